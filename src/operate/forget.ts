import { parseArgs } from 'node:util';
import { readConfig } from '../config.ts';
import type { Store } from '../store/store.ts';
import type { StartedTask } from '../store/tasks/task-records.ts';
import { AgentAccountClients } from './agent-account-clients.ts';
import { runCommand, UsageError } from './command-runner.ts';
import { withOperatorStore } from './operator-store.ts';

const USAGE =
  'npm run forget -- --workspace T0123 (--user U0123 [--tasks] | --everything)\n' +
  '  --user U0123   blanks what is kept of one person\n' +
  '  --tasks        also deletes the tasks that only this person wrote in, at the agent service\n' +
  '  --everything   deletes every row of the workspace';

/** After so many rows of a large workspace the command says how far it is. */
const PROGRESS_ROWS = 100_000;

/** What to forget. */
export type ForgetRequest =
  | { workspace: string; user: string; tasks: boolean }
  | { workspace: string; everything: true };

/** Reads the command line. Throws UsageError. */
export function parseForgetRequest(args: readonly string[]): ForgetRequest {
  const { workspace, user, tasks = false, everything = false } = parsed();
  if (workspace === undefined) throw new UsageError(USAGE, '--workspace is missing.');
  if (!/^[TE][A-Z0-9]+$/.test(workspace)) throw new UsageError(USAGE, `${workspace} is no workspace's id.`);
  if (user === undefined) {
    // Nobody shall lose a workspace by leaving a word out.
    if (!everything) throw new UsageError(USAGE, '--user or --everything is missing.');
    if (tasks) throw new UsageError(USAGE, '--tasks goes with --user.');
    return { workspace, everything };
  }
  if (everything) throw new UsageError(USAGE, '--user and --everything exclude each other.');
  if (!/^[UW][A-Z0-9]+$/.test(user)) throw new UsageError(USAGE, `${user} is no person's id.`);
  return { workspace, user, tasks };

  function parsed() {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    try {
      const options = { workspace: text, user: text, tasks: flag, everything: flag };
      return parseArgs({ args: [...args], options }).values;
    } catch (error) {
      throw new UsageError(USAGE, error instanceof Error ? error.message : String(error));
    }
  }
}

/**
 * Forgets, and says what was done and what is left elsewhere. `deleteTask` deletes at the service; what it throws
 * leaves our own rows as they are, so that the command can be given again. Rows of a workspace go in parts; `signal` ends it
 * after the part under way.
 */
export async function forget(
  store: Pick<Store, 'erasure' | 'tasks'>,
  request: ForgetRequest,
  deleteTask: (task: StartedTask) => Promise<void>,
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { workspace } = request;
  if ('everything' in request) {
    let reportedRows = 0;
    const onBatch = (rows: number) => {
      if (rows < reportedRows + PROGRESS_ROWS) return;
      reportedRows = rows;
      print(`${rows} rows of ${workspace} are deleted so far.`);
    };
    const rows = await store.erasure.eraseWorkspace(workspace, { signal, onProgress: onBatch });
    print(`${rows} rows of ${workspace} are deleted.`);
    if (signal?.aborted === true) return print('It was interrupted: give the command again to go on.');
    print('Its projects and tasks at the agent service are still there.');
    return;
  }
  const tasks = await store.tasks.startedBy(workspace, request.user);
  const own = request.tasks ? tasks.filter(({ alone }) => alone) : [];
  for (const task of own) await deleteTask(task);
  const messages = await store.erasure.eraseUser(workspace, request.user);
  print(`${messages} messages of ${request.user} and what else was kept are blanked.`);
  if (own.length > 0) print(`${own.length} tasks at the agent service are deleted.`);
  const left = tasks.filter((task) => !own.includes(task));
  if (left.length > 0)
    print(`These tasks at the agent service are still there: ${left.map(({ task }) => task).join(', ')}.`);
  print("The person's own messages in Slack are Slack's; the agent's replies there are not touched.");
}

if (import.meta.main) {
  await runCommand(async () => {
    const request = parseForgetRequest(process.argv.slice(2));
    const config = readConfig(process.env);
    const print = (line: string) => console.log(line);
    const interrupted = new AbortController();
    process.once('SIGINT', () => interrupted.abort());
    await withOperatorStore(config, async (store) => {
      const clients = new AgentAccountClients(config, store);
      try {
        const deleteTask = (task: StartedTask) => clients.deleteTask(request.workspace, task);
        await forget(store, request, deleteTask, print, interrupted.signal);
      } finally {
        await clients.close();
      }
    });
    return interrupted.signal.aborted ? 1 : 0;
  });
}
