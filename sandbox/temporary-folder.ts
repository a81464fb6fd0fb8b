import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder, removed at the end. If we run as root, the database's own user must be able to enter it. */
export async function temporaryFolder(undo: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-'));
  // A database server that was killed may still be writing.
  undo.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));
  await chmod(folder, 0o711);
  return folder;
}
