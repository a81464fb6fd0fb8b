import * as words from '../../reply/words.ts';
import type { Turn } from '../../store/tables.ts';
import type { Admission, PersonMessage } from '../arriving/arrivals.ts';
import type { RelayParts } from '../context.ts';
import { type TellingPlace, tryToTell } from '../telling.ts';
import type { SignOutcome } from './control.ts';
import { Controls } from './controls.ts';
import { Feedback } from './feedback.ts';
import { Holding } from './holding.ts';
import type { Marks } from './marks.ts';
import { type Sign, Signs } from './signs.ts';
import { Stopping } from './stopping.ts';

/** Everything with which people take the agent's work into their hands. */
export class Hands {
  readonly controls: Controls;
  readonly feedback: Feedback;
  readonly #stopping: Stopping;
  readonly #signs: Signs;
  readonly #holding: Holding;
  readonly #parts: RelayParts;

  /** `onStop` hears of every turn that is to be stopped. */
  constructor(parts: RelayParts, marks: Marks, onStop: (turn: Turn) => void) {
    this.#parts = parts;
    this.#stopping = new Stopping(parts, onStop);
    this.feedback = new Feedback(parts);
    this.#holding = new Holding(parts, marks);
    this.controls = new Controls(parts, this.#stopping, this.#holding);
    this.#signs = new Signs(parts, this.#stopping, marks, parts.settings.stopReaction);
  }

  /** The word stop as a whole message. */
  readonly stopSaid = (message: PersonMessage): Promise<SignOutcome> => this.#signs.stopSaid(message);

  /** Looks for stops that are to be carried out. */
  start(): void {
    this.#stopping.start();
  }

  async stop(): Promise<void> {
    await this.#stopping.stop();
  }

  /** What became of a message that came in. */
  admitted(
    admission: Admission,
    event: { workspace: string; channel: string; ts: string; person: string },
  ): void {
    this.#holding.admitted(admission, event);
    if (admission.kind !== 'stop_said' || !admission.first) return;
    const { root } = admission.thread;
    this.#answer({ ...event, threadTs: root === event.ts ? undefined : root }, admission.outcome);
  }

  /** A message was put into a thread by a form: it may wait there. */
  added(message: { workspace: string; channel: string; ts: string }): void {
    this.#holding.changed(message);
  }

  /** Carries out a sign that came as an event of its own. */
  async signed(sign: Sign): Promise<SignOutcome> {
    const outcome = await this.#signs.accept(sign);
    const threadTs = sign.kind === 'reaction' ? await this.#rootOf(sign) : sign.root;
    this.#answer({ ...sign, threadTs }, outcome);
    if (sign.kind === 'reaction' && outcome === 'withdrawn')
      this.#holding.changed({ workspace: sign.workspace, channel: sign.channel, ts: sign.target });
    if (sign.kind === 'session_stopped' && (outcome === 'nothing' || outcome === 'over')) {
      // Slack leaves its sign to us.
      const { channel, root } = sign;
      this.#parts
        .workspace(sign.workspace)
        ?.sessions?.show({ channel, threadTs: root }, 'active')
        .catch((error: unknown) => this.#parts.log.debug({ err: error }, 'a session was left as it is'));
    }
    return outcome;
  }

  async #rootOf({
    workspace,
    channel,
    target: ts,
  }: Sign & { kind: 'reaction' }): Promise<string | undefined> {
    const { messages, stops } = this.#parts.store;
    const key = { workspace, channel, ts };
    return (await messages.get(key))?.root ?? (await stops.ofPost(key))?.root;
  }

  /** Tells the person what only they need to know. */
  #answer(place: TellingPlace, outcome: SignOutcome): void {
    if (outcome === 'done' || outcome === 'refused' || outcome === 'ignored') return;
    tryToTell(this.#parts, place, words.signAnswers[outcome]);
  }
}
