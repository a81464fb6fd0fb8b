import { z } from 'zod';
import { AgentError, undefinedIfNotFound } from '../../agent/errors.ts';
import { valueIf, within } from '../../calls/retries-and-waits.ts';
import type { TaskSummary } from '../../render/blocks/task-lines.ts';
import * as strings from '../../render/strings/index.ts';
import { SlackError } from '../../slack/errors.ts';
import type { TurnOutcome } from '../../store/schema.ts';
import type { TaskRow } from '../../store/tasks/tasks.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';

const BOT_NAME_TIMEOUT_MS = 500;

/** The sentence that asks people to invite the bot to a conversation, by its name if Slack says that soon. */
export async function inviteMe({ people, bot }: Pick<WorkspaceClient, 'people' | 'bot'>): Promise<string> {
  const name = people.personName(bot.userId).catch(() => undefined);
  return strings.inviteMe(await within(BOT_NAME_TIMEOUT_MS, name, undefined));
}

type ListDeps = Pick<RelayDeps, 'store' | 'agent' | 'log' | 'workspace'>;

const FRESH_MS = 15_000;
const SERVICE_TIMEOUT_MS = 10_000;
/** The most tasks on a page of the service's list. The others are read one by one. */
const SERVICE_PAGE_SIZE = 100;

/** Whether everything that lists show of these tasks is recent. */
export function areTasksFresh(rows: readonly TaskRow[]): boolean {
  return !rows.some((row) => row.permalink === null || isStale(row));
}

/** Refreshes these tasks' states and permalinks. Returns whether the service answered for all. Throws StoreError. */
export async function refreshTasks(deps: ListDeps, rows: readonly TaskRow[]): Promise<boolean> {
  const signal = AbortSignal.timeout(SERVICE_TIMEOUT_MS);
  const stale = rows.filter(isStale);
  const projects = Map.groupBy(stale, ({ account_id, project_id }) => `${account_id}/${project_id ?? ''}`);
  const [done] = await Promise.all([
    Promise.all([...projects.values()].map((group) => refreshProject(deps, group, signal))),
    Promise.all(rows.map((row) => savedPermalink(deps, row))),
  ]);
  return done.every(Boolean);
}

/** Refreshes one project's tasks: from a page of its list, and one by one where they are not on it. */
async function refreshProject(deps: ListDeps, rows: readonly TaskRow[], signal: AbortSignal) {
  try {
    const listed = await listStates(deps, rows, signal);
    for (const row of rows) {
      const state = listed.get(row.task_id) ?? (await readState(deps, row, signal));
      await deps.store.tasks.recordState(row, state);
    }
    return true;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    deps.log.info({ err: error }, 'reading tasks from the service failed');
    return false;
  }
}

async function listStates(deps: ListDeps, [first]: readonly TaskRow[], signal: AbortSignal) {
  if (first === undefined || first.project_id === null) return new Map();
  const { account_id, project_id } = first;
  const page = await undefinedIfNotFound(async () =>
    deps.agent(account_id).listTasks(project_id, { limit: SERVICE_PAGE_SIZE, signal }),
  );
  return new Map(page?.items.map(({ id, status }) => [id, status]));
}

async function readState(deps: ListDeps, { account_id, task_id }: TaskRow, signal: AbortSignal) {
  const task = await undefinedIfNotFound(async () => deps.agent(account_id).getTask(task_id, { signal }));
  return task?.status ?? 'gone';
}

/** The permalink of a task's thread, which is recorded once it is known; null if Slack does not give it. */
export async function savedPermalink(deps: Pick<RelayDeps, 'store' | 'workspace'>, row: TaskRow) {
  const slack = deps.workspace(row.workspace);
  if (row.permalink !== null || slack === undefined) return row.permalink;
  const found = await threadPermalink(slack, row);
  if (found !== undefined) await deps.store.tasks.savePermalink(row, found);
  return found ?? null;
}

/** The permalink of a thread; undefined if Slack does not give it. */
export async function threadPermalink(
  { posting }: Pick<WorkspaceClient, 'posting'>,
  { channel, thread_ts }: Pick<TaskRow, 'channel' | 'thread_ts'>,
): Promise<string | undefined> {
  const isOfSlack = (error: unknown) => error instanceof SlackError;
  return await posting.getPermalink({ channel, ts: thread_ts }).catch(valueIf(undefined, isOfSlack));
}

/** Whether a task's state is to be read again. That of a task with an open turn is shown without a read. */
function isStale({ has_open_turn, task_state_read_at, finished_at }: TaskRow): boolean {
  if (has_open_turn) return false;
  return (
    task_state_read_at === null ||
    Date.now() - task_state_read_at.getTime() > FRESH_MS ||
    (finished_at !== null && task_state_read_at < finished_at)
  );
}

/** A task's record as lists show it. */
export function taskSummary(row: TaskRow): TaskSummary {
  return { ...row, state: currentState(row) };
}

/** A task's state after a turn that ended like this; left out where the outcome does not tell. */
const STATE_BY_TURN_OUTCOME: Partial<Record<TurnOutcome, string>> = {
  completed: 'completed',
  length: 'completed',
  cancelled: 'cancelled',
  failed: 'failed',
};

/** The state that was last read, unless a turn is running or has ended since. */
function currentState(row: TaskRow): string {
  const { outcome, finished_at, task_state, task_state_read_at } = row;
  if (row.has_open_turn) return 'running';
  const endState = outcome === null ? undefined : STATE_BY_TURN_OUTCOME[outcome];
  const hasEndedSince =
    finished_at !== null && (task_state_read_at === null || task_state_read_at < finished_at);
  return (hasEndedSince ? endState : undefined) ?? task_state ?? endState ?? 'idle';
}

/** What a Home tab shows: the pages of its two lists, from 0, and the chosen channel. Kept in the view's metadata. */
const homeTabState = z.object({
  page: z.int().min(0).max(100_000),
  channel: z
    .string()
    .regex(/^[\w-]{1,100}$/)
    .optional(),
  channelPage: z.int().min(0).max(100_000),
});
export type HomeTabState = z.output<typeof homeTabState>;

/** Reads the state from a view's parsed metadata; the first pages for anything else. */
export function parseHomeTabState(value: unknown): HomeTabState {
  return homeTabState.safeParse(value).data ?? { page: 0, channelPage: 0 };
}
