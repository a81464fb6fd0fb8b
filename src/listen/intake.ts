import type { Logger } from 'pino';
import type { Admission } from '../relay/arriving/arrivals.ts';
import type { Inbox } from '../relay/arriving/inbox.ts';
import type { SignOutcome } from '../relay/controls/control.ts';
import type { Sign } from '../relay/controls/signs.ts';
import type { Departure } from '../relay/installing/departures.ts';
import type { Whereabouts } from '../relay/installing/installed.ts';
import { readDeparture } from './departures.ts';
import { type Envelope, isMessage, otherBotIn, readArrival, readEnvelope, readSign } from './events.ts';

/** Our own user in a workspace. */
export interface Bot {
  readonly userId: string;
  readonly botId: string;
}

/** One event that came, for figures. */
export interface HeardEvent {
  workspace: string;
  /** `message`, `edit`, `deletion`, `sign`, or `other` for what does not concern us. */
  kind: string;
  /** What became of it: an admission's kind, `silence`, `stranger`, `departure` or `failed` (Slack sends it again). */
  outcome: string;
  /** From its receipt until it may be acknowledged. */
  ms: number;
}

/** What the intake needs. */
export interface IntakeParts {
  inbox: Inbox;
  /** Undefined where the bot is not installed. */
  bot(at: Whereabouts): Promise<Bot | undefined>;
  /** Hears of the end of an installation; left out where there is but one, by the settings. */
  onDeparture?: ((departure: Departure) => Promise<void>) | undefined;
  /** Other bots and workflows (B…) whose messages are taken in a channel; asked only where one names ours. */
  otherBots?: (at: { workspace: string; channel: string }) => Promise<readonly string[]>;
  /** Hears of each event of a workspace in which the bot is installed. */
  onEvent(workspace: string): void;
  /** Hears what became of each event that was written down. */
  onAdmission: (
    admission: Admission,
    event: { workspace: string; channel: string; ts: string; person: string },
  ) => void;
  /** Carries out a sign; it returns when that is written down. */
  onSign: (sign: Sign) => Promise<SignOutcome>;
  /** Hears what became of every event, for figures. */
  onHeard?: (event: HeardEvent) => void;
  log: Logger;
}

/** Takes events from Slack in. Returns when an event may be acknowledged; throws when Slack shall send it again. */
export class Intake {
  readonly #parts: IntakeParts;
  readonly #strangers = new Set<string>();

  constructor(parts: IntakeParts) {
    this.#parts = parts;
  }

  /**
   * Takes one body of the Events API in; anything else, for which the answer is undefined, waits for Bolt's listeners.
   * They have nothing to do with a message.
   */
  async accept(body: unknown): Promise<'message' | 'event' | undefined> {
    const envelope = readEnvelope(body);
    if (envelope === undefined) return undefined;
    const since = performance.now();
    const heard = { workspace: envelope.workspace, kind: 'other', outcome: 'failed' };
    try {
      // Most are messages: those are not read as anything else first.
      const departure = isMessage(envelope) ? undefined : readDeparture(body);
      if (departure === undefined) heard.outcome = await this.#take(envelope, heard);
      else {
        await this.#parts.onDeparture?.(departure);
        heard.outcome = 'departure';
      }
    } finally {
      const ms = performance.now() - since;
      this.#afterwards(() => this.#parts.onHeard?.({ ...heard, ms }));
    }
    return isMessage(envelope) ? 'message' : 'event';
  }

  /** The answer is what became of the event. */
  async #take(envelope: Envelope, heard: { kind: string }): Promise<string> {
    const bot = await this.#parts.bot(envelope);
    if (bot === undefined) {
      this.#logOnce(envelope.workspace);
      return 'stranger';
    }
    this.#parts.onEvent(envelope.workspace);
    const sign = isMessage(envelope) ? undefined : readSign(envelope, bot);
    if (sign !== undefined) {
      heard.kind = 'sign';
      return this.#parts.onSign(sign);
    }
    const other = otherBotIn(envelope, bot);
    const otherBots = other && (await this.#parts.otherBots?.(other));
    const arrival = readArrival(envelope, bot, otherBots);
    if (arrival.kind === 'silence') {
      this.#parts.log.debug({ workspace: envelope.workspace, why: arrival.why }, 'event passed over');
      return 'silence';
    }
    heard.kind = arrival.kind;
    const admission = await this.#parts.inbox.accept(arrival, bot);
    const event = 'message' in arrival ? arrival.message : { ts: '', person: undefined, ...arrival };
    const { workspace, channel, ts } = event;
    this.#parts.log.debug({ workspace, channel, ts, outcome: admission.kind }, 'event taken in');
    const person = event.person ?? '';
    this.#afterwards(() => this.#parts.onAdmission(admission, { workspace, channel, ts, person }));
    return admission.kind;
  }

  /** Nothing that can wait is done before the acknowledgement is on its way. */
  #afterwards(tell: () => void): void {
    setImmediate(() => {
      try {
        tell();
      } catch (error) {
        this.#parts.log.error({ err: error }, 'what follows from an event was left out');
      }
    });
  }

  #logOnce(workspace: string): void {
    if (this.#strangers.has(workspace) || this.#strangers.size > 1_000) return;
    this.#strangers.add(workspace);
    this.#parts.log.warn(
      { workspace },
      'events of a workspace in which the bot is not installed are passed over',
    );
  }
}
