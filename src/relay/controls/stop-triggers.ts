import type { ThreadKey } from '../../store/keys.ts';
import { uuidV7Generator } from '../../store/queue/uuid-v7.ts';
import type { Turn } from '../../store/schema.ts';
import { mayUseControl } from '../access/control-permission.ts';
import type { StopOutcome } from '../runtime/control-types.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { type IncomingMessage, isDirectChannel, isEarlierTs } from '../runtime/incoming-message.ts';
import type { StopControl } from './stop-control.ts';
import type { WaitingReactions } from './waiting-reactions.ts';

/** A sign of a person, as Slack's event tells it. */
export type StopTrigger =
  | {
      kind: 'reaction';
      workspace: string;
      channel: string;
      person: string;
      ts: string;
      target: string;
      name: string;
    }
  /** Slack's own button to stop an agent's session. */
  | { kind: 'session_stopped'; workspace: string; channel: string; person: string; ts: string; root: string };

/** Somebody asks for the stop of what a thread is at; `control` is its name in the audit trail. */
interface ThreadStopRequest {
  person: string;
  ts: string;
  control: string;
}

/**
 * Stops without a button: the word, a reaction, Slack's own button. They name a thread or a message; the turn that
 * is meant is the one at work there. All may come twice.
 */
export class StopTriggers {
  readonly #deps: RelayDeps;
  readonly #stopControl: Pick<StopControl, 'requestStop' | 'pauseWaiting'>;
  readonly #waitingReactions: Pick<WaitingReactions, 'cleanUp'>;
  readonly #stopReaction: string;
  readonly #nextTurnId = uuidV7Generator();

  /** `reaction`: the emoji that stops, without colons. */
  constructor(
    deps: RelayDeps,
    stopControl: Pick<StopControl, 'requestStop' | 'pauseWaiting'>,
    waitingReactions: Pick<WaitingReactions, 'cleanUp'>,
    stopReaction: string,
  ) {
    this.#deps = deps;
    this.#stopControl = stopControl;
    this.#waitingReactions = waitingReactions;
    this.#stopReaction = stopReaction;
  }

  /** Somebody wrote stop. Of what is at work there, it means what was asked before it. */
  async onStopWord({ workspace, channel, root, ts, person }: IncomingMessage): Promise<StopOutcome> {
    return this.#stopThread({ workspace, channel, root }, { person, ts, control: 'stop_word' });
  }

  /** Takes a sign from an event; what is none of ours is ignored. */
  async handle(trigger: StopTrigger): Promise<StopOutcome> {
    return trigger.kind === 'reaction' ? this.#onReaction(trigger) : this.#onSessionStopped(trigger);
  }

  async #onReaction({
    workspace,
    channel,
    person,
    ts,
    target,
    name,
  }: StopTrigger & { kind: 'reaction' }): Promise<StopOutcome> {
    if (name !== this.#stopReaction) return 'ignored';
    const { store } = this.#deps;
    const key = { workspace, channel, ts: target };
    const turn = (await store.turns.ofMessage(key)) ?? (await store.posts.turnOf(key));
    const control = 'stop_reaction';
    if (turn !== undefined)
      return this.#stopControl.requestStop({ workspace, channel, turnId: turn.id, person, ts, control });
    const message = await store.messages.get(key);
    if (message?.state !== 'waiting') return 'ignored';
    const { root, person: asker } = message;
    if (!(await mayUseControl(this.#deps, { workspace, channel, root, person, turn: { asker }, control })))
      return 'refused';
    if (!(await store.messages.withdraw(key))) return 'over';
    this.#waitingReactions.cleanUp();
    return 'withdrawn';
  }

  async #onSessionStopped(trigger: StopTrigger & { kind: 'session_stopped' }): Promise<StopOutcome> {
    const { workspace, channel, root, person, ts } = trigger;
    return this.#stopThread({ workspace, channel, root }, { person, ts, control: 'session_stop' });
  }

  async #stopThread(thread: ThreadKey, stop: ThreadStopRequest): Promise<StopOutcome> {
    const { workspace, channel } = thread;
    const turn = await this.#targetTurn(thread, stop);
    if (turn === undefined) return 'nothing';
    if (turn === 'refused') return turn;
    const request = { workspace, channel, turnId: turn.id, ...stop };
    const outcome = await this.#stopControl.requestStop(request);
    return outcome === 'over' ? this.#stopControl.pauseWaiting(request) : outcome;
  }

  /**
   * The turn at work in a thread, or else the one that posts its end; in a direct channel, the one at work anywhere,
   * where the word stands at the top.
   */
  async #targetTurn(thread: ThreadKey, stop: ThreadStopRequest): Promise<Turn | 'refused' | undefined> {
    const { messages, turns } = this.#deps.store;
    const { workspace, channel } = thread;
    const atTop = isDirectChannel(channel) && thread.root === stop.ts;
    const atWork = atTop ? await turns.latestRunning(workspace, channel) : await turns.running(thread);
    const location = atTop ? await messages.latestWaiting(workspace, channel, stop.ts) : thread;
    const open = atWork ?? (location && (await turns.open(location)));
    if (open !== undefined) return isEarlierTs(open.message_ts, stop.ts) ? open : undefined;
    return location && this.#beginNextTurn(location, stop);
  }

  /**
   * Nothing is at work, but something is about to: its turn begins here, to be stopped before anything is sent. But
   * only for who may stop it: nobody looked yet at whether it is admitted.
   */
  async #beginNextTurn(
    thread: ThreadKey,
    { person, ts, control }: ThreadStopRequest,
  ): Promise<Turn | 'refused' | undefined> {
    const next = await this.#deps.store.messages.nextWaiting(thread);
    if (next === undefined || !isEarlierTs(next.ts, ts)) return undefined;
    const { workspace, channel, root } = thread;
    const use = { workspace, channel, root, person, turn: { asker: next.person }, control };
    if (!(await mayUseControl(this.#deps, use))) return 'refused';
    return this.#deps.store.transaction(async (store) => {
      const now = await store.messages.nextWaiting(thread);
      return now?.ts === next.ts ? store.turns.beginOnce(this.#nextTurnId(), now) : store.turns.open(thread);
    });
  }
}
