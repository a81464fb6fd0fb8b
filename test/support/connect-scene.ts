import { chmod, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startSandboxServices } from '../../sandbox/sandbox-services.ts';
import type { SlackWorkspaceOptions } from '../../sandbox/slack/slack-workspace.ts';
import { compileCache, compiledProgram } from './compiled-programs.ts';
import { Terminal } from './terminal.ts';

/** The program of `npm run connect`. */
export const CONNECT = compiledProgram('setup/connect.ts');

/** The sandbox's services, and an empty folder in which people run `npm run connect` in a terminal. */
export async function startConnectScene(slackOptions: SlackWorkspaceOptions, undo: AsyncDisposableStack) {
  const { slack, agent } = await startSandboxServices({ slack: slackOptions }, undo);
  const folder = await mkdtemp(path.join(tmpdir(), 'taskthread-connect-'));
  undo.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 200 }));
  await chmod(folder, 0o711);
  const { PATH = '', HOME = '' } = process.env;
  const env = { PATH, HOME, SLACK_API_URL: slack.apiUrl, PORT: '0', HOST: '127.0.0.1', ...compileCache() };
  const open = (args: string[] = [], more: Record<string, string> = {}): Terminal => {
    const terminal = new Terminal(process.execPath, [CONNECT, ...args], {
      cwd: folder,
      env: { ...env, ...more },
    });
    undo.defer(() => terminal.close());
    return terminal;
  };
  const settings = () => readFile(path.join(folder, '.env'), 'utf8');
  const modeOf = async (name: string) => (await stat(path.join(folder, name))).mode & 0o777;
  return { slack, agent, folder, env, open, settings, modeOf };
}
