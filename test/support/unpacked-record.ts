import { execFile } from 'node:child_process';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The files of an archive that `unzip` finds to be whole, by name, in their order in it; `folder` gets them, too. */
export async function unpacked(archive: Uint8Array, folder?: string): Promise<Map<string, Buffer>> {
  folder ??= await mkdtemp(path.join(tmpdir(), 'record-test-'));
  const zip = path.join(folder, 'archive');
  await writeFile(zip, archive);
  // It checks each file's sum as it writes it.
  await run('unzip', [zip, '-d', path.join(folder, 'files')]);
  const { stdout } = await run('unzip', ['-Z1', zip]);
  const files = new Map<string, Buffer>();
  for (const name of stdout.trim().split('\n'))
    files.set(name, name.endsWith('/') ? Buffer.of() : await readFile(path.join(folder, 'files', name)));
  return files;
}

/** An `.eln` file: its only folder, the files in it, and of these the page and the metadata. */
export async function unpackedRecord(archive: Uint8Array) {
  const place = await mkdtemp(path.join(tmpdir(), 'record-test-'));
  const all = await unpacked(archive, place);
  const [folder = ''] = [...all.keys()].map((name) => name.split('/')[0] ?? '');
  const files = new Map([...all].map(([name, bytes]) => [name.slice(folder.length + 1), bytes]));
  const textOf = (name: string) => files.get(name)?.toString('utf8') ?? '';
  return {
    ...{ folder, files, names: [...all.keys()] },
    page: textOf('task/record.html'),
    pagePath: path.join(place, 'files', folder, 'task/record.html'),
    metadata: textOf('ro-crate-metadata.json'),
  };
}
