import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

const { statfs } = promises;

/** Makes this process find so much free disk (bytes), until `restore`. No test can fill the real one. */
export function findFreeDisk(freeBytes: number): { restore: () => void } {
  const change = (look: (folder: string) => Promise<object>) => {
    Reflect.set(promises, 'statfs', look);
    syncBuiltinESMExports();
  };
  change(async (folder) => Object.assign(await statfs(folder), { bavail: freeBytes, bsize: 1 }));
  return { restore: () => change(statfs) };
}
