import { v7 as nextTurnId } from 'uuid';
import { timeLimit } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import type { MessageKey, ThreadKey, Turn } from '../../store/schema.ts';
import { mayUseControl, useOnTurn } from '../access/control-permission.ts';
import type { ChannelActor, StopOutcome } from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import {
  type InboxOutcome,
  type IncomingMessage,
  isDirectChannel,
  isEarlierTs,
} from '../runtime/incoming-message.ts';
import { inBackground } from '../runtime/poller.ts';
import { trySendEphemeral } from '../runtime/private-notices.ts';
import { pauseBehindEnd, updatePausedNoticeSoon } from './paused-messages.ts';
import type { StopControl, StopRequest } from './stop-control.ts';

const STOP_REACTION = 'octagonal_sign';

/** Most threads of a channel that are searched for a post of ours that is not recorded yet. */
const MAX_TURNS_POSTING = 3;

/** A stop that comes as an event: an emoji on the message `target`, or Slack's own stop of a session. */
export type StopTrigger = ChannelActor & { ts: string } & (
    | { kind: 'reaction'; target: string; name: string }
    | { kind: 'session_stopped'; thread_ts: string }
  );
type ReactionTrigger = Extract<StopTrigger, { kind: 'reaction' }>;

/** Someone asks to stop a thread's work; `control` is the name in the audit trail. */
type ThreadStopRequest = Required<Pick<StopRequest, 'person' | 'ts' | 'control'>>;

/** Handles stops that come without a button of ours. Each is for a thread's turn at work, and may be delivered twice. */
export class StopTriggers {
  readonly #deps: RelayDeps;
  readonly #stopControl: StopControl;

  constructor(deps: RelayDeps, stopControl: StopControl) {
    this.#deps = deps;
    this.#stopControl = stopControl;
  }

  /** Someone wrote the stop word: stops what was asked before that message. */
  async onStopWord({ workspace, channel, thread_ts, ts, person }: IncomingMessage): Promise<StopOutcome> {
    return this.#stopThread({ workspace, channel, thread_ts }, { person, ts, control: 'stop_word' });
  }

  /** Tells the person who wrote the stop word why nothing stopped, once. */
  async onInboxOutcome(outcome: InboxOutcome, message: ChannelActor & { ts: string }): Promise<void> {
    if (outcome.kind !== 'stop_said' || !outcome.isFirst) return;
    const { thread_ts } = outcome.thread;
    this.#tellPerson(message, thread_ts === message.ts ? undefined : thread_ts, outcome.outcome);
  }

  /** Carries out a stop that came as an event; returns once it is recorded. Ignores reactions that are no stop. */
  async handle(trigger: StopTrigger): Promise<StopOutcome> {
    return trigger.kind === 'reaction' ? this.#handleReaction(trigger) : this.#handleSessionStop(trigger);
  }

  async #handleReaction(trigger: ReactionTrigger): Promise<StopOutcome> {
    const { workspace, channel, target: ts } = trigger;
    const key = { workspace, channel, ts };
    const outcome = await this.#stopByReaction(trigger);
    if (outcome === 'ignored') return outcome;
    const { messages, posts } = this.#deps.store;
    const marked = (await messages.get(key)) ?? (await posts.turnOf(key));
    this.#tellPerson(trigger, marked?.thread_ts, outcome);
    if (outcome === 'withdrawn') updatePausedNoticeSoon(this.#deps, key);
    return outcome;
  }

  /** Slack's own stop button was pressed: stops the thread's turn or, if there is none, resets the session. */
  async #handleSessionStop(trigger: Exclude<StopTrigger, ReactionTrigger>): Promise<StopOutcome> {
    const { workspace, channel, thread_ts, person, ts } = trigger;
    const stop = { person, ts, control: 'session_stop' };
    const thread = { workspace, channel, thread_ts };
    const outcome = await this.#stopThread(thread, stop);
    this.#tellPerson(trigger, thread_ts, outcome);
    // Slack leaves it to the app to show that the session is idle. A turn does so at its end; without one, this does.
    const sessions = this.#deps.workspace(workspace)?.sessions;
    if (sessions !== undefined && (outcome === 'nothing' || outcome === 'over')) {
      const isDue = async () => (await this.#deps.store.turns.open(thread)) === undefined;
      const reactivation = sessions.setStatus({ channel, threadTs: thread_ts }, 'active', isDue);
      inBackground(reactivation, this.#deps.log, 'could not reactivate an agent session');
    }
    return outcome;
  }

  /** Tells the person privately what became of a stop, unless the thread shows it, they were told, or it was no stop. */
  #tellPerson(actor: ChannelActor, threadTs: string | undefined, outcome: StopOutcome): void {
    if (outcome === 'done' || outcome === 'refused' || outcome === 'ignored') return;
    trySendEphemeral(this.#deps, { ...actor, threadTs }, strings.stopTriggerReplies[outcome]);
  }

  /** Stops the turn of the message or reply with the stop emoji (`requestStop` asks who may), or withdraws a waiting message. */
  async #stopByReaction(trigger: ReactionTrigger): Promise<StopOutcome> {
    const { workspace, channel, person, ts, target, name } = trigger;
    if (name !== STOP_REACTION) return 'ignored';
    const { store } = this.#deps;
    const key = { workspace, channel, ts: target };
    const message = await store.messages.get(key);
    const recordedTurn = (await store.turns.ofMessage(key)) ?? (await store.posts.turnOf(key));
    // Without a row in `messages`, it may be a post of ours that is not recorded yet.
    const turn = recordedTurn ?? (message === undefined ? await this.#turnPosting(key) : undefined);
    const control = 'stop_reaction';
    if (turn !== undefined)
      return this.#stopControl.requestStop({ workspace, channel, turnId: turn.id, person, ts, control });
    if (message?.state !== 'waiting') return 'ignored';
    // The message has no turn yet: its writer counts as the one who asked.
    const use = useOnTurn({ ...message, asked_by: message.user_id }, person, control);
    if (!(await mayUseControl(this.#deps, use))) return 'refused';
    return (await store.messages.withdraw(key)) ? 'withdrawn' : 'over';
  }

  /** The turn that posts now, and whose thread has our post `ts`, if there is one. Throws a SlackError. */
  async #turnPosting({ workspace, channel, ts }: MessageKey): Promise<Turn | undefined> {
    const slack = this.#deps.workspace(workspace);
    const signal = timeLimit(this.#deps.settings.lookupMs);
    for (const turn of await this.#deps.store.posts.turnsPosting(workspace, channel, MAX_TURNS_POSTING)) {
      const post = await slack?.readBack.message({ channel, threadTs: turn.thread_ts, ts, signal });
      if (post !== undefined) return post.user === slack?.bot.userId ? turn : undefined;
    }
    return undefined;
  }

  /**
   * Stops the turn at work in a thread, or pauses what waits behind one that posts its end. If neither is
   * possible any more, does so with the next turn that is found; `over` if there is none. `nothing` if there
   * was none at first. Where no turn is found, a plan's reminders end.
   */
  async #stopThread(thread: ThreadKey, stop: ThreadStopRequest): Promise<StopOutcome> {
    const { workspace, channel } = thread;
    // The turn that was over, with nothing to pause behind it, is found again as long as it posts its end.
    let overTurnId: string | undefined;
    for (;;) {
      const turn = await this.#findOrBeginTurn(thread, stop);
      if (turn === 'refused') return turn;
      if (turn === undefined) {
        await this.#deps.store.personWaits.endPlans(thread);
        return overTurnId === undefined ? 'nothing' : 'over';
      }
      if (turn.id === overTurnId) return 'over';
      const request = { workspace, channel, turnId: turn.id, turn, ...stop };
      const requested = await this.#stopControl.requestStop(request);
      const outcome = requested === 'over' ? await pauseBehindEnd(this.#deps, request) : requested;
      if (outcome !== 'over') return outcome;
      overTurnId = turn.id;
    }
  }

  /**
   * The turn that a stop in a thread is for: the one at work, else the one that posts its end, else a new one for the
   * message that waits. `refused` if the person may not stop that one. Undefined if there is none from before the stop.
   * At the top level of a direct conversation, the stop is for any thread of it.
   */
  async #findOrBeginTurn(thread: ThreadKey, stop: ThreadStopRequest): Promise<Turn | 'refused' | undefined> {
    const { messages, turns } = this.#deps.store;
    const { workspace, channel } = thread;
    const isAtTop = isDirectChannel(channel) && thread.thread_ts === stop.ts;
    const atWork = isAtTop ? await turns.latestRunning(workspace, channel) : await turns.running(thread);
    const waitingThread = isAtTop ? await messages.latestWaiting(workspace, channel, stop.ts) : thread;
    const open = atWork ?? (waitingThread && (await turns.open(waitingThread)));
    if (open !== undefined) return isEarlierTs(open.message_ts, stop.ts) ? open : undefined;
    return waitingThread && this.#beginNextTurn(waitingThread, stop);
  }

  /** Begins the next message's turn, so that the stop ends it unsent. Undefined if only later messages wait, or none. */
  async #beginNextTurn(thread: ThreadKey, { person, ts, control }: ThreadStopRequest) {
    const next = await this.#deps.store.messages.nextWaiting(thread);
    if (next === undefined || !isEarlierTs(next.ts, ts)) return undefined;
    const use = useOnTurn({ ...thread, asked_by: next.user_id }, person, control);
    if (!(await mayUseControl(this.#deps, use))) return 'refused';
    return this.#deps.store.transaction(async (store) => {
      // Meanwhile a process may have begun the message's turn, or the message may be gone.
      const now = await store.messages.nextWaiting(thread);
      return now?.ts === next.ts ? store.turns.beginOnce(nextTurnId(), now) : store.turns.open(thread);
    });
  }
}
