import { AgentRejectedError, isForbidden } from '../../agent/errors.ts';
import type { NewTask } from '../../agent/request-bodies.ts';
import * as strings from '../../render/strings/index.ts';
import type { TaskChoices, Thread, Turn } from '../../store/schema.ts';
import type { TaskIntent } from '../../store/threads/threads.ts';
import { mayBeAtService } from '../../store/threads/turn-phase.ts';
import { NO_ACCOUNT } from '../../store/workspaces/accounts.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { once, type ServiceLook, searchUntilSettled } from '../runtime/unknown-outcome.ts';

/** What a task is started with, besides its project. */
export type TaskOptions = Omit<NewTask, 'projectId'>;

/** The service's status for a value that it does not know. */
const HTTP_UNPROCESSABLE = 422;
/** The longest search (ms) for a task after an unknown outcome. A second task, which gets no message, does no harm. */
const MAX_SEARCH_MS = 20_000;
/** How far the service's clock may lag behind ours (ms). */
const MAX_CLOCK_SKEW_MS = 10 * 60_000;

/** Whether a message of the thread was frozen, for any of its tasks, even if refused: freezing adds a participant. */
export function hasFrozenMessage({ participant_ids }: Thread): boolean {
  return participant_ids.length > 0;
}

/** The options of a task whose first message makes these choices, in a channel with this model. */
export function newTaskOptions(
  { title, choices }: { title: string; choices: TaskChoices },
  channelModel: string | null,
): TaskOptions {
  return {
    title,
    model: choices.model ?? channelModel ?? undefined,
    noFallback: choices.noFallback,
    autoMode: choices.mode === 'auto' ? true : undefined,
    planMode: choices.mode === 'plan' ? true : undefined,
  };
}

/** Moves a thread to its workspace's account. Throws TurnEnded if there is none, or if the thread's task is of another. */
export async function ensureCurrentAccount(deps: RelayDeps, thread: Thread, turn: Turn): Promise<Thread> {
  const account = deps.accountOf(thread.workspace);
  if (thread.account_id === account && account !== NO_ACCOUNT) return thread;
  // A message that may have been sent is followed to its end under the account that it was sent with.
  if (mayBeAtService(turn)) return thread;
  if (account === NO_ACCOUNT) throw new TurnEnded('refused', strings.noAccount);
  if (thread.task_id !== null || thread.task_intended_at !== null)
    throw new TurnEnded('refused', strings.accountChanged);
  return deps.store.transaction(async ({ threads, keptFiles }) => {
    if (await threads.moveToAccount(thread, account)) await keptFiles.leaveBehind(thread);
    // A thread that was moved before, or has got a task, is returned as it is: the next step looks at it again.
    return threads.getOrThrow(thread);
  });
}

/**
 * Starts the task of a thread without one. After a start with an unknown outcome, it first searches the service for the
 * task, to adopt it. Only an adopted task `isRecorded`: the caller records a started one with its next step. Throws
 * TurnEnded if the service refuses the project or the model.
 */
export async function ensureThreadTask(
  { deps, lease }: Pick<ThreadWork, 'deps' | 'lease'>,
  thread: Thread,
  projectId: string,
  options: TaskOptions,
  recordIntent: (intent: TaskIntent) => Promise<void>,
): Promise<{ taskId: string; isRecorded: boolean }> {
  const { store, log } = deps;
  const agent = deps.agent(thread.account_id);
  const endIfForbidden = (cause: unknown): never => throwRefusal(cause, { projectId });
  const findAndAdopt = async () => {
    const find = () => findAdoptableTask(deps, thread, projectId).catch(endIfForbidden);
    const taskId = await searchUntilSettled(find, Math.min(deps.settings.resendMs, MAX_SEARCH_MS), lease);
    if (taskId === undefined) {
      const failure = 'starting a task failed with an unknown outcome; the service may have an unused task';
      log.warn({ code: 'orphaned_task' }, failure);
      return undefined;
    }
    log.info({ task: taskId }, 'task adopted after a start with an unknown outcome');
    return { taskId: await store.threads.bindTask(thread, taskId), isRecorded: true };
  };
  const start = async () => {
    const task = { projectId, ...options };
    await recordIntent(task);
    const endIfRefused = (cause: unknown): never => throwRefusal(cause, task);
    const { id: taskId } = await agent.startTask(task, { guard: lease }).catch(endIfRefused);
    log.info({ task: taskId }, 'task started');
    return { taskId, isRecorded: false };
  };
  const look = thread.task_intended_at === null ? undefined : findAndAdopt;
  return once({ look, act: start, ifNoEffect: () => store.threads.forgetTaskIntent(thread) }, lease);
}

/** Throws TurnEnded for an unknown model or a forbidden project; else the error itself. */
function throwRefusal(
  cause: unknown,
  { projectId, model }: { projectId: string; model?: string | undefined },
): never {
  const isRejected = cause instanceof AgentRejectedError && cause.status === HTTP_UNPROCESSABLE;
  if (isRejected && model !== undefined)
    throw new TurnEnded('refused', strings.unknownModel(model, cause.reason), { cause, offer: 'choose' });
  if (isForbidden(cause)) throw new TurnEnded('refused', strings.projectForbidden(projectId), { cause });
  throw cause;
}

/**
 * Looks for the task that an earlier start has made: it was created after the intent, is idle, has the intent's title, and
 * belongs to no thread; and no other thread of the project searches for such a task.
 */
async function findAdoptableTask(
  deps: RelayDeps,
  thread: Thread,
  projectId: string,
): Promise<ServiceLook<string>> {
  const intendedAt = thread.task_intended_at?.getTime() ?? 0;
  const page = await deps.agent(thread.account_id).listTasks(projectId, { limit: 100 });
  const listing = page.items[0]?.id ?? ''; // The newest task.
  for (const task of page.items) {
    const matches =
      task.status === 'idle' &&
      task.title === thread.task_title &&
      (task.createdAt?.getTime() ?? Number.NEGATIVE_INFINITY) >= intendedAt - MAX_CLOCK_SKEW_MS;
    if (matches && (await deps.store.threads.mayAdoptTask(thread, projectId, task.id)))
      return { found: task.id, listing };
  }
  return { found: undefined, listing };
}
