import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A temporary folder that the database's own user may enter, removed at the end. */
export async function makeTemporaryFolder(undo: AsyncDisposableStack): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-bench-'));
  undo.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));
  await chmod(folder, 0o711);
  return folder;
}
