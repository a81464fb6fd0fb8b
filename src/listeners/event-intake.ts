import type { Logger } from 'pino';
import type { StopTrigger } from '../relay/controls/stop-triggers.ts';
import type { Inbox } from '../relay/inbox/inbox.ts';
import type { UninstallEvent } from '../relay/installations/uninstall-events.ts';
import type { InstallationQuery } from '../relay/installations/workspace-registry.ts';
import type { StopOutcome } from '../relay/runtime/control-types.ts';
import type { InboxOutcome } from '../relay/runtime/incoming-message.ts';
import {
  type Envelope,
  findOtherBotMention,
  isMessageEvent,
  parseEnvelope,
  parseInboxEvent,
  parseStopTrigger,
} from './event-parser.ts';
import { parseUninstallEvent } from './uninstall-event-parser.ts';

/** Our own user in a workspace. */
export interface BotIdentity {
  readonly userId: string;
  readonly botId: string;
}

/** One event that came, for figures. */
export interface HandledEvent {
  workspace: string;
  /** `message`, `edit`, `deletion`, `sign`, or `other` for what does not concern us. */
  kind: string;
  /** What became of it: an admission's kind, `silence`, `stranger`, `departure` or `failed` (Slack sends it again). */
  outcome: string;
  /** From its receipt until it may be acknowledged. */
  ms: number;
}

/** What the intake needs. */
export interface EventIntakeDeps {
  inbox: Inbox;
  /** Undefined where the bot is not installed. */
  bot(at: InstallationQuery): Promise<BotIdentity | undefined>;
  /** Hears of the end of an installation; left out where there is but one, by the settings. */
  onUninstallEvent?: ((departure: UninstallEvent) => Promise<void>) | undefined;
  /** Other bots and workflows (B…) whose messages are taken in a channel; asked only where one names ours. */
  otherBots?: (at: { workspace: string; channel: string }) => Promise<readonly string[]>;
  /** Hears of each event of a workspace in which the bot is installed. */
  onEvent(workspace: string): void;
  /** Hears what became of each event that was written down. */
  onInboxOutcome: (
    admission: InboxOutcome,
    event: { workspace: string; channel: string; ts: string; person: string },
  ) => void;
  /** Carries out a sign; it returns when that is written down. */
  onStopTrigger: (sign: StopTrigger) => Promise<StopOutcome>;
  /** Hears what became of every event, for figures. */
  onEventHandled?: (event: HandledEvent) => void;
  log: Logger;
}

/** Takes events from Slack in. Returns when an event may be acknowledged; throws when Slack shall send it again. */
export class EventIntake {
  readonly #deps: EventIntakeDeps;
  readonly #unknownWorkspaces = new Set<string>();

  constructor(deps: EventIntakeDeps) {
    this.#deps = deps;
  }

  /**
   * Takes one body of the Events API in; anything else, for which the answer is undefined, waits for Bolt's listeners.
   * They have nothing to do with a message.
   */
  async accept(body: unknown): Promise<'message' | 'event' | undefined> {
    const envelope = parseEnvelope(body);
    if (envelope === undefined) return undefined;
    const since = performance.now();
    const handled = { workspace: envelope.workspace, kind: 'other', outcome: 'failed' };
    try {
      // Most are messages: those are not read as anything else first.
      const uninstallEvent = isMessageEvent(envelope) ? undefined : parseUninstallEvent(body);
      if (uninstallEvent === undefined) handled.outcome = await this.#handle(envelope, handled);
      else {
        await this.#deps.onUninstallEvent?.(uninstallEvent);
        handled.outcome = 'departure';
      }
    } finally {
      const ms = performance.now() - since;
      this.#afterAck(() => this.#deps.onEventHandled?.({ ...handled, ms }));
    }
    return isMessageEvent(envelope) ? 'message' : 'event';
  }

  /** The answer is what became of the event. */
  async #handle(envelope: Envelope, handled: { kind: string }): Promise<string> {
    const bot = await this.#deps.bot(envelope);
    if (bot === undefined) {
      this.#logUnknownWorkspaceOnce(envelope.workspace);
      return 'stranger';
    }
    this.#deps.onEvent(envelope.workspace);
    const stopTrigger = isMessageEvent(envelope) ? undefined : parseStopTrigger(envelope, bot);
    if (stopTrigger !== undefined) {
      handled.kind = 'sign';
      return this.#deps.onStopTrigger(stopTrigger);
    }
    const otherBotMention = findOtherBotMention(envelope, bot);
    const otherBots = otherBotMention && (await this.#deps.otherBots?.(otherBotMention));
    const inboxEvent = parseInboxEvent(envelope, bot, otherBots);
    if (inboxEvent.kind === 'silence') {
      this.#deps.log.debug({ workspace: envelope.workspace, why: inboxEvent.why }, 'event passed over');
      return 'silence';
    }
    handled.kind = inboxEvent.kind;
    const outcome = await this.#deps.inbox.accept(inboxEvent, bot);
    const event = 'message' in inboxEvent ? inboxEvent.message : { ts: '', person: undefined, ...inboxEvent };
    const { workspace, channel, ts } = event;
    this.#deps.log.debug({ workspace, channel, ts, outcome: outcome.kind }, 'event taken in');
    const person = event.person ?? '';
    this.#afterAck(() => this.#deps.onInboxOutcome(outcome, { workspace, channel, ts, person }));
    return outcome.kind;
  }

  /** Nothing that can wait is done before the acknowledgement is on its way. */
  #afterAck(callback: () => void): void {
    setImmediate(() => {
      try {
        callback();
      } catch (error) {
        this.#deps.log.error({ err: error }, 'what follows from an event was left out');
      }
    });
  }

  #logUnknownWorkspaceOnce(workspace: string): void {
    if (this.#unknownWorkspaces.has(workspace) || this.#unknownWorkspaces.size > 1_000) return;
    this.#unknownWorkspaces.add(workspace);
    this.#deps.log.warn(
      { workspace },
      'events of a workspace in which the bot is not installed are passed over',
    );
  }
}
