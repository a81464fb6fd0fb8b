import { jobIds } from '../../store/job-id.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Turn } from '../../store/tables.ts';
import { isDirect, isEarlier, type PersonMessage } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';
import type { SignOutcome } from './control.ts';
import type { Marks } from './marks.ts';
import { permits } from './permission.ts';
import type { Stopping } from './stopping.ts';

/** A sign of a person, as Slack's event tells it. */
export type Sign =
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
interface ThreadStop {
  person: string;
  ts: string;
  control: string;
}

/**
 * Stops without a button: the word, a reaction, Slack's own button. They name a thread or a message; the turn that
 * is meant is the one at work there. All may come twice.
 */
export class Signs {
  readonly #parts: RelayParts;
  readonly #stopping: Pick<Stopping, 'ask' | 'hold'>;
  readonly #marks: Pick<Marks, 'tidy'>;
  readonly #reaction: string;
  readonly #nextId = jobIds();

  /** `reaction`: the emoji that stops, without colons. */
  constructor(
    parts: RelayParts,
    stopping: Pick<Stopping, 'ask' | 'hold'>,
    marks: Pick<Marks, 'tidy'>,
    reaction: string,
  ) {
    this.#parts = parts;
    this.#stopping = stopping;
    this.#marks = marks;
    this.#reaction = reaction;
  }

  /** Somebody wrote stop. Of what is at work there, it means what was asked before it. */
  async stopSaid({ workspace, channel, root, ts, person }: PersonMessage): Promise<SignOutcome> {
    return this.#stop({ workspace, channel, root }, { person, ts, control: 'stop_word' });
  }

  /** Takes a sign from an event; what is none of ours is ignored. */
  async accept(sign: Sign): Promise<SignOutcome> {
    return sign.kind === 'reaction' ? this.#reacted(sign) : this.#sessionStopped(sign);
  }

  async #reacted({
    workspace,
    channel,
    person,
    ts,
    target,
    name,
  }: Sign & { kind: 'reaction' }): Promise<SignOutcome> {
    if (name !== this.#reaction) return 'ignored';
    const { store } = this.#parts;
    const key = { workspace, channel, ts: target };
    const turn = (await store.turns.ofMessage(key)) ?? (await store.stops.ofPost(key));
    const control = 'stop_reaction';
    if (turn !== undefined)
      return this.#stopping.ask({ workspace, channel, turnId: turn.id, person, ts, control });
    const message = await store.messages.get(key);
    if (message?.state !== 'waiting') return 'ignored';
    const { root, person: asker } = message;
    if (!(await permits(this.#parts, { workspace, channel, root, person, turn: { asker }, control })))
      return 'refused';
    if (!(await store.messages.withdraw(key))) return 'over';
    this.#marks.tidy();
    return 'withdrawn';
  }

  async #sessionStopped(sign: Sign & { kind: 'session_stopped' }): Promise<SignOutcome> {
    const { workspace, channel, root, person, ts } = sign;
    return this.#stop({ workspace, channel, root }, { person, ts, control: 'session_stop' });
  }

  async #stop(thread: ThreadKey, use: ThreadStop): Promise<SignOutcome> {
    const { workspace, channel } = thread;
    const turn = await this.#meant(thread, use);
    if (turn === undefined) return 'nothing';
    if (turn === 'refused') return turn;
    const request = { workspace, channel, turnId: turn.id, ...use };
    const outcome = await this.#stopping.ask(request);
    return outcome === 'over' ? this.#stopping.hold(request) : outcome;
  }

  /**
   * The turn at work in a thread, or else the one that posts its end; in a direct channel, the one at work anywhere,
   * where the word stands at the top.
   */
  async #meant(thread: ThreadKey, use: ThreadStop): Promise<Turn | 'refused' | undefined> {
    const { stops, turns } = this.#parts.store;
    const { workspace, channel } = thread;
    const atTop = isDirect(channel) && thread.root === use.ts;
    const atWork = atTop ? await stops.latestOpen(workspace, channel) : await stops.atWork(thread);
    const place = atTop ? await stops.latestWaiting(workspace, channel, use.ts) : thread;
    const open = atWork ?? (place && (await turns.open(place)));
    if (open !== undefined) return isEarlier(open.message_ts, use.ts) ? open : undefined;
    return place && this.#begun(place, use);
  }

  /**
   * Nothing is at work, but something is about to: its turn begins here, to be stopped before anything is sent. But
   * only for who may stop it: nobody looked yet at whether it is admitted.
   */
  async #begun(
    thread: ThreadKey,
    { person, ts, control }: ThreadStop,
  ): Promise<Turn | 'refused' | undefined> {
    const next = await this.#parts.store.messages.nextWaiting(thread);
    if (next === undefined || !isEarlier(next.ts, ts)) return undefined;
    const { workspace, channel, root } = thread;
    const use = { workspace, channel, root, person, turn: { asker: next.person }, control };
    if (!(await permits(this.#parts, use))) return 'refused';
    return this.#parts.store.transaction(async (store) => {
      const now = await store.messages.nextWaiting(thread);
      return now?.ts === next.ts
        ? store.turns.beginUnlessBegun(this.#nextId(), now)
        : store.turns.open(thread);
    });
  }
}
