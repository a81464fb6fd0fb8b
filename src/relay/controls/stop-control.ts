import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, isBusy } from '../../agent/errors.ts';
import { anySignal, valueIf } from '../../calls/retries-and-waits.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { MessageKey, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { BACKGROUND_PART } from '../../store/threads/posts.ts';
import { hasSettled, isOver } from '../../store/threads/turn-phase.ts';
import { taskIdOf } from '../../store/threads/turns.ts';
import { mayUseControl, useOnTurn } from '../access/control-permission.ts';
import { isReplySettled } from '../replies/reply-blocks.ts';
import { isTaskSettled } from '../replies/reply-reader.ts';
import { type ControlOutcome, type ControlRequest, turnOf } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { Poller } from '../runtime/poller.ts';
import { transientFailure } from '../runtime/retry-and-giving-up.ts';
import { Interruption, isInterruption } from '../runtime/turn-exceptions.ts';

const MAX_STOPS_PER_POLL = 200;
/** How long one attempt may take (ms); the next poll begins another. */
const ATTEMPT_TIMEOUT_MS = 30_000;
/** How many seconds after the first request another one forces the stop. */
const FORCE_STOP_AFTER_SECONDS = 10;

/** A person asks to stop a turn. */
export interface StopRequest extends ControlRequest {
  /** When, by Slack's clock. */
  ts: string;
  /** The turn of `turnId`, if the caller has just read it. */
  turn?: Turn;
  control?: string;
  /** Sends messages in place of a pause. Returns none if they were sent before or are gone: then nothing is stopped. */
  instead?: (store: Store) => Promise<readonly MessageKey[]>;
}

/** Stops turns: records each stop, pauses what waits, and tells the service, which any process may do once more. */
export class StopControl {
  readonly #deps: RelayDeps;
  readonly #onStopRequested: (turn: Turn) => void;
  readonly #poller: Poller;
  /** The calls to the service under way, by turn. */
  readonly #pendingCalls = new Map<string, Promise<void>>();

  /** `onStopRequested` is called for every turn to stop, repeatedly until the turn has settled. */
  constructor(deps: RelayDeps, onStopRequested: (turn: Turn) => void) {
    this.#deps = deps;
    this.#onStopRequested = onStopRequested;
    this.#poller = new Poller({
      poll: () => this.#announceAndSendSome(),
      onError: (error) => deps.log.debug({ err: error }, 'could not read the open stop requests'),
    });
  }

  /** Sends the recorded stops of all processes that the service does not know yet. */
  sendOpenStops(): void {
    this.#poller.pollNow();
  }

  /** Ends this control, as the process ends: other processes send the stops that are still open. */
  async stop(): Promise<void> {
    await this.#poller.stop();
    await Promise.all(this.#pendingCalls.values());
  }

  /**
   * Stops a turn: gracefully at first, and at once if asked again 10 s later or more. A turn whose message
   * has not been sent never sends it. After the end of a turn, the work of its task in the background is
   * stopped. If the message was passed on to a running turn, that turn is stopped.
   */
  async requestStop(request: StopRequest): Promise<ControlOutcome> {
    return (await this.stopAndSend(request)).outcome;
  }

  /** Stops a turn like `requestStop`; also returns the messages that are sent to the agent instead. */
  async stopAndSend(request: StopRequest): Promise<{ outcome: ControlOutcome; sent: readonly MessageKey[] }> {
    const { store } = this.#deps;
    const { person, control = 'stop' } = request;
    const notStopped = (outcome: ControlOutcome) => ({ outcome, sent: [] });
    const asked = request.turn ?? (await turnOf(store, request));
    if (asked === undefined) return notStopped('unknown');
    const toStop = await this.#turnToStop(asked);
    const isBackground = hasSettled(toStop); // Then only work in the background is left to stop.
    if (isBackground && !(await this.#mayWorkInBackground(toStop))) return notStopped('over');
    if (!(await mayUseControl(this.#deps, useOnTurn(toStop, person, control)))) return notStopped('refused');
    const recording = this.#recordRequest(toStop, request, isBackground);
    const isTakenOver = (error: unknown) => isInterruption(error, 'taken_over');
    // Undefined if the turn is over, or another press has sent what `instead` would send.
    const recorded = await recording.catch(valueIf(undefined, isTakenOver));
    if (recorded === undefined) return notStopped('over');
    const { kind, turn, sent } = recorded;
    // The turn was asked to stop before; forcing it is too soon, or done. What `sent` names goes next all the same.
    if (kind === 'already_asked') return { outcome: 'stopping', sent };
    this.#deps.log.info({ turn: turn.id, person, kind, control, isBackground }, 'stop requested');
    if (!isBackground) this.#onStopRequested(turn);
    this.#sendInBackground(turn);
    return { outcome: 'done', sent };
  }

  /** The turn to stop: the running one if this turn's message was passed on to it, else this turn. */
  async #turnToStop(turn: Turn): Promise<Turn> {
    if (turn.passed_on_by_turn_id === null || isOver(turn)) return turn;
    const running = await this.#deps.store.turns.get(turn.workspace, turn.passed_on_by_turn_id);
    return running === undefined || hasSettled(running) ? turn : running;
  }

  /** Whether the turn's thread says that its task works in the background, or is about to say so. */
  async #mayWorkInBackground(turn: Turn): Promise<boolean> {
    const notice = (await this.#deps.store.posts.ofTurn(turn)).get(BACKGROUND_PART);
    return notice !== undefined && notice.state !== 'gone';
  }

  /**
   * Records a stop. The first stop of a turn at work pauses what waits, unless `instead` sends it. Undefined if
   * the turn is over; throws an Interruption if `instead` sends nothing.
   */
  async #recordRequest(known: Turn, { person, ts, instead }: StopRequest, isBackground: boolean) {
    const { workspace, id, channel, thread_ts } = known;
    return this.#deps.store.transaction(async (store) => {
      await store.threads.lock(known);
      const recorded = await store.stopRequests.record(
        { workspace, turn_id: id, user_id: person, ts },
        FORCE_STOP_AFTER_SECONDS,
        { isBackground, sendsWaiting: instead !== undefined },
      );
      // `instead` also sends after somebody else's stop: its messages go next.
      const sent = recorded && (await instead?.(store));
      // Another press has sent them, or they are gone: the stop must not be recorded either.
      if (sent?.length === 0) throw new Interruption('taken_over');
      // The thread's notice about background work, or its reminder, changes at once.
      const kind = isBackground ? JOB_KIND.followUp : JOB_KIND.reminder;
      await store.jobs.wake({ workspace, kind, channel, thread_ts });
      const isFirst = recorded?.kind === 'asked';
      if (isFirst && !isBackground && instead === undefined) await store.pausedThreads.pause(recorded.turn);
      if (recorded?.kind === 'forced') {
        const row = { workspace, channel, thread_ts, user_id: person, turn_id: id };
        await store.audit.add({ ...row, kind: 'stop', details: { forced: true } });
      }
      return recorded && { ...recorded, sent: sent ?? [] };
    });
  }

  /** Sends some of the stops that have not settled, and tells those of their turns that run in this process. */
  async #announceAndSendSome(): Promise<void> {
    for (const turn of await this.#deps.store.stopRequests.unsettled(MAX_STOPS_PER_POLL)) {
      this.#onStopRequested(turn);
      this.#sendInBackground(turn);
    }
  }

  /** Sends a stop to the service. Returns at once, because the acknowledgement to Slack must not wait. */
  #sendInBackground(turn: Turn): void {
    if (this.#pendingCalls.has(turn.id)) return;
    const signal = anySignal([this.#poller.signal, AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)]);
    const call = sendStop(this.#deps, turn, signal)
      .catch((error: unknown) => this.#deps.log.debug({ err: error }, 'retrying the stop request'))
      .finally(() => this.#pendingCalls.delete(turn.id));
    this.#pendingCalls.set(turn.id, call);
  }
}

/** Sends a recorded stop that the service does not know yet. A refusal is final. Throws other AgentErrors. */
export async function sendStop(deps: RelayDeps, turn: Turn, signal?: AbortSignal): Promise<void> {
  const force = turn.force_stop_requested_at !== null && turn.force_stop_sent_at === null;
  const isOpen = turn.stop_requested_at !== null && (turn.stop_sent_at === null || force);
  // A turn with no message at the service yet stops itself, before it sends the message or right after.
  if (!isOpen || turn.user_message_id === null) return;
  const sent = { messageId: turn.user_message_id, replyId: turn.assistant_message_id };
  const thread = await deps.store.threads.getOrThrow(turn);
  const taskId = taskIdOf(turn, thread);
  if (taskId === null) return;
  const agent = deps.agent(thread.account_id);
  try {
    await cancelAtService(agent, taskId, sent, { force, signal });
  } catch (error) {
    // A task that is gone, or has nothing to stop (`busy`), counts as stopped.
    if (!(error instanceof AgentNotFoundError || isBusy(error))) {
      const isRefusal = error instanceof AgentError && transientFailure(error) === undefined;
      if (!isRefusal || signal?.aborted === true) throw error;
      deps.log.warn({ err: error, turn: turn.id }, 'the service refused to stop a turn');
    }
  }
  await deps.store.stopRequests.markSent(turn, force ? 'forced' : 'graceful');
}

/** Cancels a reply at work, or its task if forced. If none is at work: the task, unless a later message has it. */
async function cancelAtService(
  agent: AgentClient,
  taskId: string,
  { messageId, replyId }: { messageId: string; replyId: string | null },
  { force, signal }: { force: boolean; signal: AbortSignal | undefined },
): Promise<void> {
  const cancelTask = () => agent.cancelTask(taskId, { force, signal });
  const cancelIfLast = async () => {
    if (await isLastMessage(agent, taskId, messageId, signal)) await cancelTask();
  };
  if (replyId === null) return cancelIfLast();
  const reply = await agent.getMessage(taskId, replyId, { signal });
  if (isReplySettled(reply)) {
    // Its task may work on in the background.
    const { status } = await agent.getTask(taskId, { signal });
    return isTaskSettled(status) ? undefined : cancelIfLast();
  }
  if (force) return cancelTask();
  // A reply that is being cancelled has got the stop already, in a call whose answer was lost.
  if (reply.status !== 'cancelling') await agent.cancelMessage(taskId, replyId, { signal });
}

/** Whether this is the last message that a task got: none of a person's follows it. */
async function isLastMessage(agent: AgentClient, taskId: string, messageId: string, signal?: AbortSignal) {
  for await (const { role } of agent.messagesAfter(taskId, messageId, { signal }))
    if (role === 'user') return false;
  return true;
}
