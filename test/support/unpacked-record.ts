import { execFile } from 'node:child_process';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A folder with the record of a task, as its archive and unpacked. */
export async function unpackedRecord(archive: Uint8Array): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'record-test-'));
  const zip = path.join(folder, 'record.zip');
  await writeFile(zip, archive);
  await run('unzip', ['-t', zip]);
  await run('unzip', [zip, '-d', folder]);
  return folder;
}
