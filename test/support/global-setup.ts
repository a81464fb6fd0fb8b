import type { TestProject } from 'vitest/node';
import compilePrograms from './compiled-programs.ts';
import startDatabaseServer from './database-server.ts';
import useTemporaryFolder from './temporary-folder.ts';

/** What a whole run shares; returns what ends it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const removeFolder = await useTemporaryFolder();
  const [stopServer] = await Promise.all([startDatabaseServer(project), compilePrograms(project)]);
  return async () => {
    await stopServer();
    await removeFolder();
  };
}
