import { AgentClient } from '../agent/agent-client.ts';
import { undefinedIfNotFound } from '../agent/errors.ts';
import { useProxy } from '../calls/outbound-proxy.ts';
import { type Config, readCommandConfig } from '../config/environment-and-secret-files.ts';
import type { Store } from '../store/store.ts';
import type { JoinedTask } from '../store/tasks/tasks.ts';
import { SETTINGS_ACCOUNT } from '../store/workspaces/accounts.ts';
import { encryptionContext, Keyring } from '../store/workspaces/encryption.ts';
import { commandLine, parseOptions, runCommand, UsageError, withOperatorStore } from './command-runner.ts';

const USAGE =
  `${commandLine('forget', '--workspace T0123 (--user U0123 [--tasks] | --everything)')}\n` +
  '  --user U0123   erases the data kept about one person\n' +
  '  --tasks        also deletes their tasks at the agent service, unless others wrote in them\n' +
  '  --everything   deletes every row of the workspace';
const HELP = `Erases what this database holds about a person or a workspace. It cannot be undone.\n\nUsage: ${USAGE}`;

/** The command reports its progress each time it has deleted this many rows. */
const PROGRESS_ROWS = 100_000;

export type ForgetRequest =
  | { workspace: string; user: string; tasks: boolean }
  | { workspace: string; everything: true };

/** Reads the command line. Throws UsageError. */
export function parseForgetRequest(args: readonly string[]): ForgetRequest {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = { workspace: text, user: text, tasks: flag, everything: flag };
  const { workspace, user, tasks = false, everything = false } = parseOptions(USAGE, args, options);
  if (workspace === undefined) throw new UsageError(USAGE, '--workspace is missing.');
  if (!/^[TE][A-Z0-9]+$/.test(workspace)) throw new UsageError(USAGE, `${workspace} is not a workspace ID.`);
  if (user === undefined) {
    // A forgotten option must not delete a workspace.
    if (!everything) throw new UsageError(USAGE, 'Give either --user or --everything.');
    if (tasks) throw new UsageError(USAGE, '--tasks works only with --user.');
    return { workspace, everything };
  }
  if (everything) throw new UsageError(USAGE, 'Use either --user or --everything, not both.');
  if (!/^[UW][A-Z0-9]+$/.test(user)) throw new UsageError(USAGE, `${user} is not a user ID.`);
  return { workspace, user, tasks };
}

const TASK_OUTCOMES = {
  deleted: 'deleted at the agent service',
  absent: 'not found in its account at the agent service',
  kept: 'not deleted, because the key of its account is gone',
};
type TaskOutcome = keyof typeof TASK_OUTCOMES;

/**
 * Erases, and prints what was erased and what remains elsewhere. Throws if nothing is known of the workspace or the person; what
 * `deleteTask` throws, before any row of the person is erased; and the reason of `signal`, after a task or a batch.
 */
export async function forget(
  store: Pick<Store, 'personErasure' | 'workspaceErasure' | 'tasks'>,
  request: ForgetRequest,
  deleteTask: (task: JoinedTask) => Promise<TaskOutcome>,
  print: (line: string) => void,
  signal?: AbortSignal,
): Promise<void> {
  const { workspace } = request;
  if ('everything' in request) {
    let reportedRows = 0;
    const onProgress = (rows: number) => {
      if (rows < reportedRows + PROGRESS_ROWS) return;
      reportedRows = rows;
      print(`Deleted ${rows} rows of ${workspace} so far.`);
    };
    const mayContinue = async () => signal?.aborted !== true;
    const rows = await store.workspaceErasure.eraseWorkspace(workspace, { mayContinue, onProgress });
    print(`Deleted ${rows} rows of ${workspace}.`);
    signal?.throwIfAborted();
    if (rows === 0) throw new Error(`There is nothing of the workspace ${workspace} in this database.`);
    print('Its projects and tasks at the agent service still exist.');
    return;
  }
  const tasks = await store.tasks.joinedBy(workspace, request.user);
  const left = new Set(tasks.map(({ task_id }) => task_id));
  const ownTasks = request.tasks ? tasks.filter(({ alone }) => alone) : [];
  for (const [index, task] of ownTasks.entries()) {
    signal?.throwIfAborted();
    const outcome = await deleteTask(task);
    if (outcome !== 'kept') left.delete(task.task_id);
    print(`Task ${task.task_id}: ${TASK_OUTCOMES[outcome]} (${index + 1} of ${ownTasks.length}).`);
  }
  signal?.throwIfAborted();
  const messages = await store.personErasure.eraseUser(workspace, request.user);
  if (messages === undefined)
    throw new Error(`There is nothing of ${request.user} in ${workspace}. Check both IDs.`);
  print(`Erased ${messages} messages of ${request.user} and all other data kept about them.`);
  if (left.size > 0) print(`These tasks at the agent service still exist: ${[...left].join(', ')}.`);
  print("The person's messages and the agent's replies in Slack are not affected.");
}

/** Deletes a task at the service. Throws an AgentError, and an Error if a setting that it needs is missing. */
export async function deleteAtService(
  config: Config,
  { accounts }: Pick<Store, 'accounts'>,
  workspace: string,
  { account_id, task_id }: JoinedTask,
): Promise<TaskOutcome> {
  const { AGENT_DIALECT: serviceOptions, SECRET_KEY } = config;
  let { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey, PRIVATE_HOSTS: allowedHosts } = config;
  const isOwn = account_id !== SETTINGS_ACCOUNT;
  if (isOwn) {
    const row = await accounts.get({ workspace, account_id });
    if (row?.encrypted_api_key == null) return 'kept';
    const place = encryptionContext.account(row);
    baseUrl = row.base_url;
    apiKey = SECRET_KEY && new Keyring(SECRET_KEY).decrypt(row.encrypted_api_key, place);
    allowedHosts = config.ACCOUNT_HOSTS;
  }
  if (baseUrl === undefined || apiKey === undefined)
    throw new Error(`Set ${isOwn ? 'SECRET_KEY' : 'AGENT_BASE_URL and AGENT_API_KEY'} to delete tasks.`);
  const agent = new AgentClient({ baseUrl, apiKey, serviceOptions, allowedHosts });
  const remove = () => agent.deleteTask(task_id).then(() => 'deleted' as const);
  try {
    return (await undefinedIfNotFound(remove)) ?? 'absent';
  } finally {
    await agent.close();
  }
}

if (import.meta.main) {
  await runCommand(HELP, async () => {
    const request = parseForgetRequest(process.argv.slice(2));
    const config = readCommandConfig(process.env);
    useProxy(config);
    const interrupted = new AbortController();
    process.on('SIGINT', () => interrupted.abort(new Error('Interrupted. Run the command again.')));
    await withOperatorStore(config, async (store) => {
      const deleteTask = (task: JoinedTask) => deleteAtService(config, store, request.workspace, task);
      await forget(store, request, deleteTask, console.log, interrupted.signal);
    });
    return 0;
  });
}
