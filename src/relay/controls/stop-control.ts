import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentBusyError, AgentError, AgentNotFoundError } from '../../agent/errors.ts';
import type { Turn } from '../../store/schema.ts';
import type { StopRequestResult } from '../../store/threads/stop-requests.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { mayUseControl } from '../access/control-permission.ts';
import { isReplySettled, isTaskSettled } from '../replies/reply-reader.ts';
import { type ControlOutcome, turnOf } from '../runtime/control-types.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { isEarlierTs } from '../runtime/incoming-message.ts';
import { Poller } from '../runtime/poller.ts';
import { transientFailure } from '../runtime/retry.ts';

/** Stops that are still to be carried out are looked for so often (ms). */
const POLL_INTERVAL_MS = 2_000;
/** Turns that one look takes at most. */
const MAX_STOPS_PER_POLL = 200;
/** From so many seconds after the first request, another one forces the stop. */
const FORCE_STOP_AFTER_SECONDS = 10;

/** Somebody asks for a stop. */
export interface StopRequest {
  workspace: string;
  /** Where it is asked for. */
  channel: string | undefined;
  turnId: string;
  person: string;
  /** When, by Slack's clock: the action_ts of a press, the ts of a message or event. */
  ts: string;
  /** How it was asked for, for the audit trail. */
  control?: string;
}

/**
 * Stops turns. An ask is recorded first, and what waits behind the turn is held in the same transaction; then the
 * service is told. What could not be told it, is told it by any process a moment later.
 */
export class StopControl {
  readonly #deps: RelayDeps;
  readonly #onStopRequested: (turn: Turn) => void;
  readonly #poller: Poller;
  /** Calls to the service under way, by turn. */
  readonly #pendingCalls = new Map<string, Promise<void>>();

  /** `onAsked` hears of every turn that is to be stopped, again and again until it has settled. */
  constructor(deps: RelayDeps, onStopRequested: (turn: Turn) => void) {
    this.#deps = deps;
    this.#onStopRequested = onStopRequested;
    this.#poller = new Poller({
      intervalMs: POLL_INTERVAL_MS,
      poll: () => this.#sendOpenStops(),
      onError: (error) => deps.log.debug({ err: error }, 'stops could not be read'),
    });
  }

  start(): void {
    this.#poller.start();
  }

  /** Looks no more, and leaves what the service was not told yet to another process. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await Promise.all(this.#pendingCalls.values());
  }

  /**
   * The first ask stops a turn gracefully, another one that comes 10 s later at once. One that is not sent yet never
   * is; one that is over is left alone. A message that was passed on to a running turn means that one.
   */
  async requestStop(request: StopRequest): Promise<ControlOutcome> {
    const { store } = this.#deps;
    const { workspace, person, control = 'stop' } = request;
    const named = await turnOf(store, request);
    if (named === undefined) return 'unknown';
    const known = await this.#runningTurnFor(named);
    if (known.settled_at !== null || known.finished_at !== null) return 'over';
    const { channel, root } = known;
    if (!(await mayUseControl(this.#deps, { workspace, channel, root, person, turn: known, control })))
      return 'refused';
    const answer = await this.#recordRequest(known, request);
    if (answer === undefined) return 'over';
    const { kind, turn } = answer;
    if (kind === 'waits') return 'stopping';
    this.#deps.log.info({ turn: turn.id, person, kind, control }, 'stop asked for');
    this.#onStopRequested(turn);
    this.#sendInBackground(turn);
    return 'done';
  }

  /** Somebody said stop while a turn only posts its end: what was written before, and waits behind it, is held. */
  async pauseWaiting({
    workspace,
    turnId,
    person,
    ts,
    control = 'stop',
  }: StopRequest): Promise<ControlOutcome> {
    const { store } = this.#deps;
    const turn = await store.turns.get(workspace, turnId);
    if (turn === undefined || turn.finished_at !== null) return 'over';
    const waiting = await store.pausedThreads.waitingMessages(turn);
    if (!waiting.some((message) => isEarlierTs(message.ts, ts))) return 'over';
    const { channel, root } = turn;
    if (!(await mayUseControl(this.#deps, { workspace, channel, root, person, turn, control })))
      return 'refused';
    return store.transaction(async (within) => {
      await within.threads.lock(turn);
      const now = await within.turns.get(workspace, turnId);
      if (now === undefined || now.finished_at !== null) return 'over';
      await within.pausedThreads.pause(now);
      this.#deps.log.info({ turn: turnId, person, control }, 'what waits behind a turn is held');
      return 'done';
    });
  }

  /** The turn at work: what was passed on to a running one is stopped with that one, or not at all. */
  async #runningTurnFor(turn: Turn): Promise<Turn> {
    if (turn.passed_on_by === null || turn.finished_at !== null) return turn;
    const running = await this.#deps.store.turns.get(turn.workspace, turn.passed_on_by);
    return running === undefined || running.settled_at !== null || running.finished_at !== null
      ? turn
      : running;
  }

  async #recordRequest(known: Turn, { person, ts }: StopRequest): Promise<StopRequestResult | undefined> {
    const { workspace, id, channel, root } = known;
    return this.#deps.store.transaction(async (store) => {
      await store.threads.lock(known);
      const answer = await store.stopRequests.record(
        { workspace, turn: id, person, ts },
        FORCE_STOP_AFTER_SECONDS,
      );
      if (answer?.kind === 'asked') await store.pausedThreads.pause(answer.turn);
      if (answer?.kind === 'forced') {
        const details = { forced: true };
        await store.audit.add({ workspace, kind: 'stop', person, channel, root, turn: id, details });
      }
      return answer;
    });
  }

  async #sendOpenStops(): Promise<void> {
    for (const turn of await this.#deps.store.stopRequests.unsettled(MAX_STOPS_PER_POLL)) {
      this.#onStopRequested(turn);
      this.#sendInBackground(turn);
    }
  }

  /** Nobody waits for it: an acknowledgement must not depend on the service. */
  #sendInBackground(turn: Turn): void {
    if (this.#pendingCalls.has(turn.id)) return;
    const { signal } = this.#poller;
    const call = sendStop(this.#deps, turn, signal)
      .catch((error: unknown) => this.#failed(turn, error))
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'a stop is tried again'))
      .finally(() => this.#pendingCalls.delete(turn.id));
    this.#pendingCalls.set(turn.id, call);
  }

  /** What passes is tried again; a refusal of the service's is its answer. */
  async #failed(turn: Turn, error: unknown): Promise<void> {
    if (
      !(error instanceof AgentError) ||
      transientFailure(error) !== undefined ||
      this.#poller.signal.aborted
    )
      throw error;
    this.#deps.log.warn({ err: error, turn: turn.id }, 'the service does not stop a turn');
    const { store } = this.#deps;
    await store.stopRequests.markSent(turn, isForced(turn) ? 'forced' : 'graceful');
  }
}

/** Whether the service is to be told to stop a turn at once. */
function isForced(turn: Turn): boolean {
  return turn.force_asked_at !== null && turn.force_sent_at === null;
}

/** The name of who asked for the stop of a turn; '' where nobody did, or nobody knows any more. */
export async function stopRequesterName(
  { store }: Pick<RelayDeps, 'store'>,
  { people }: WorkspaceClient,
  turn: Pick<Turn, 'workspace' | 'id'>,
): Promise<string> {
  const person = (await store.turns.get(turn.workspace, turn.id))?.stop_asked_by ?? '';
  return person === '' ? '' : people.personName(person);
}

/** Tells the service of a stop that it was not told of yet; `signal` gives it up. Throws an AgentError. */
export async function sendStop(
  { store, agent: agentOf }: Pick<RelayDeps, 'store' | 'agent'>,
  turn: Turn,
  signal?: AbortSignal,
): Promise<void> {
  const force = isForced(turn);
  if (turn.stop_asked_at === null || (turn.stop_sent_at !== null && !force)) return;
  // What is not bound to a message at the service is stopped by the turn itself, before it is sent or just after.
  if (turn.user_message_id === null) return;
  const sent = { messageId: turn.user_message_id, replyId: turn.assistant_message_id };
  const thread = await store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null) return;
  const agent = agentOf(thread.account);
  try {
    await cancelAtService(agent, taskId, sent, { force, signal });
  } catch (error) {
    // A task that is gone, or has nothing to stop any more, is stopped.
    if (!(error instanceof AgentNotFoundError || error instanceof AgentBusyError)) throw error;
  }
  await store.stopRequests.markSent(turn, force ? 'forced' : 'graceful');
}

/**
 * Gracefully the reply, by force the task; the task also where it works on in the background after its reply. But never
 * a task that works on another message by now.
 */
async function cancelAtService(
  agent: AgentClient,
  taskId: string,
  { messageId, replyId }: { messageId: string; replyId: string | null },
  { force, signal }: { force: boolean; signal: AbortSignal | undefined },
): Promise<void> {
  if (replyId === null) {
    await agent.cancelTask(taskId, { force, signal });
    return;
  }
  if (isReplySettled(await agent.getMessage(taskId, replyId, { signal }))) {
    if (await isWorkingOnlyOn(agent, taskId, messageId, signal))
      await agent.cancelTask(taskId, { force, signal });
    return;
  }
  if (force) await agent.cancelTask(taskId, { force, signal });
  else await agent.cancelMessage(taskId, replyId, { signal });
}

/** Whether a task still works, and on nothing later than this message. */
async function isWorkingOnlyOn(
  agent: AgentClient,
  taskId: string,
  messageId: string,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  if (isTaskSettled((await agent.getTask(taskId, { signal })).status)) return false;
  for await (const { role } of agent.messagesAfter(taskId, messageId, { signal }))
    if (role === 'user') return false;
  return true;
}
