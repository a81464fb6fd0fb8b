import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { WorkflowStepRun } from '../features/workflow-step.ts';
import type { StopTrigger } from '../relay/controls/stop-by-word-or-emoji.ts';
import type { Inbox } from '../relay/inbox/inbox.ts';
import type { InstallationQuery } from '../relay/installations/installed-workspaces.ts';
import type { SharedEvent } from '../relay/installations/shared-channels.ts';
import type { UninstallEvent } from '../relay/installations/uninstall-events.ts';
import { mentionedIds } from '../relay/reading/listening.ts';
import { type BotIdentity, parseMessage } from '../relay/reading/message-parser.ts';
import type { ChannelActor, StopOutcome, WorkspaceActor } from '../relay/runtime/control-request.ts';
import {
  type EventKind,
  type EventOutcome,
  type InboxOutcome,
  isDirectChannel,
} from '../relay/runtime/incoming-message.ts';
import type { EphemeralTarget } from '../relay/runtime/private-notices.ts';
import { transientFailure } from '../relay/runtime/retry-and-giving-up.ts';
import { optional, slackTs, text } from '../slack/field-schemas.ts';
import type { SlackTs, ThreadKey } from '../store/schema.ts';
import { type Envelope, isMessageEvent, parseEnvelope, parseUninstallEvent } from './envelope.ts';
import { EventBuffer, type EventBufferOptions } from './event-buffer.ts';
import {
  asPersonsEvent,
  eventSchema,
  findOtherBotMention,
  isEcho,
  parseHomeOpened,
  parseStopTrigger,
  parseWorkflowStep,
  toInboxEvent,
} from './event-parser.ts';

interface Receiver {
  kind: EventKind;
  take: (inbox: Inbox) => Promise<EventOutcome>;
}

export interface EventIntakeDeps
  extends Required<Pick<EventBufferOptions, 'badThingMs' | 'hasWrittenAfter' | 'log'>> {
  inbox: Inbox;
  /** Has more time for a message than Slack waits: for what could not be written in that time. */
  lateInbox: Inbox;
  /** The workspace that an event is for, where several installations share its channel. Throws if nobody knows. */
  workspaceFor: (event: SharedEvent) => Promise<string>;
  /** Undefined if the bot is not installed there. */
  bot(query: InstallationQuery): Promise<BotIdentity | undefined>;
  /** Handles the end or change of an installation; left out if the token comes from the settings. */
  onUninstallEvent?: ((event: UninstallEvent) => Promise<void>) | undefined;
  /** Other bots and workflows (B…) that may use the agent in a channel; called only if one mentions ours. */
  otherBots: (location: { workspace: string; channel: string }) => Promise<readonly string[]>;
  /** Whether Slack says that somebody is a human. Throws if it does not say in time. */
  isHuman: (somebody: WorkspaceActor) => Promise<boolean>;
  /** Called for each event of a workspace in which the bot is installed; an echo is a post of the bot's own. */
  onEvent(workspace: string, isEcho: boolean): void;
  /** Called with the outcome of each event that the inbox recorded. */
  onInboxOutcome: (outcome: InboxOutcome, event: ChannelActor & { ts: string }) => void;
  /** Carries out a stop; returns once it is recorded. */
  onStopTrigger: (trigger: StopTrigger) => Promise<StopOutcome>;
  /** Fills what a person has opened. */
  onHomeOpened: (opened: NonNullable<ReturnType<typeof parseHomeOpened>>) => void;
  /** Records a step of a workflow that Slack runs. */
  onWorkflowStep: (run: WorkflowStepRun) => Promise<void>;
  /** Called with the time from each event's arrival until it may be acknowledged. */
  onEventHandled: (event: { kind: EventKind; outcome: EventOutcome; ms: number }) => void;
  /** The database refused a message to the bot for too long: tells its writer. */
  onMessageGivenUp: (target: EphemeralTarget) => void;
  /** Records that a thread is to be read back from this ts on: an event about it is lost. */
  onEventLost: (thread: ThreadKey, since: SlackTs) => Promise<void>;
}

/** Hands each event to its receiver. Returns once it may be acknowledged; throws if Slack should send it again. */
export class EventIntake {
  readonly #deps: EventIntakeDeps;
  readonly #buffer: EventBuffer;

  constructor(deps: EventIntakeDeps) {
    this.#deps = deps;
    const { log, badThingMs, hasWrittenAfter } = deps;
    this.#buffer = new EventBuffer({ log, badThingMs, hasWrittenAfter });
  }

  /** Handles one body of the Events API. Returns false for anything else, which Bolt's listeners handle. */
  async accept(body: unknown): Promise<boolean> {
    const envelope = parseEnvelope(body);
    const isMessage = envelope !== undefined && isMessageEvent(envelope);
    // Most events are messages: skip the other parser for those.
    const uninstallEvent = isMessage ? undefined : parseUninstallEvent(body);
    if (uninstallEvent === undefined && envelope === undefined) return false;
    const place = envelope && placeOf(envelope);
    const receiverOf = async (): Promise<Receiver> => {
      if (uninstallEvent === undefined && envelope && place) return this.#receiverOf(envelope, place);
      if (uninstallEvent !== undefined) await this.#deps.onUninstallEvent?.(uninstallEvent);
      return { kind: 'other', take: async () => 'uninstalled' };
    };
    await this.#buffer.write({
      // An event about a whole organisation names no workspace.
      id: envelope?.eventId ?? randomUUID(),
      thread: place === undefined ? '' : `${place.workspace}/${place.channel}/${place.thread_ts}`,
      ts: place?.at ?? '',
      size: () => JSON.stringify(body).length,
      write: (isKept) => this.#take(receiverOf, isKept ? this.#deps.lateInbox : this.#deps.inbox),
      recordLoss: async () => {
        if (place !== undefined && place.thread_ts !== '') await this.#deps.onEventLost(place, place.ts);
      },
      onGivenUp: () => {
        if (place?.asker !== undefined) this.#deps.onMessageGivenUp(place.asker);
      },
    });
    return true;
  }

  /** Why no event is recorded, as a sentence; undefined if they are. */
  get trouble(): string | undefined {
    return this.#buffer.trouble;
  }

  /** Gives up the events that could not be recorded. */
  async stop(): Promise<void> {
    await this.#buffer.stop();
  }

  async #take(receiverOf: () => Promise<Receiver>, inbox: Inbox): Promise<void> {
    const since = performance.now();
    let kind: EventKind = 'other';
    let outcome: EventOutcome = 'failed';
    try {
      const receiver = await receiverOf();
      kind = receiver.kind;
      outcome = await receiver.take(inbox);
    } catch (error) {
      if (transientFailure(error) === undefined) {
        outcome = 'unrecordable';
        this.#deps.log.error({ event: kind, err: error }, 'an event cannot be recorded');
      }
      throw error;
    } finally {
      const ms = performance.now() - since;
      this.#afterAck(() => this.#deps.onEventHandled({ kind, outcome, ms }));
    }
  }

  async #receiverOf(sent: Envelope, place: EventPlace): Promise<Receiver> {
    const named = await this.#deps.bot(sent);
    // What Slack names none of our installations for is for none of them.
    const envelope = named === undefined ? sent : await this.#forItsInstallation(sent, place);
    const bot = envelope === sent ? named : await this.#deps.bot(envelope);
    const { workspace } = envelope;
    if (bot === undefined) {
      this.#deps.log.debug({ workspace }, 'ignored an event: the app is not installed there');
      return { kind: 'other', take: async () => 'not_installed' };
    }
    const asSent = eventSchema.safeParse(envelope.event).data;
    this.#deps.onEvent(workspace, isEcho(asSent, bot));
    const stopTrigger = isMessageEvent(envelope) ? undefined : parseStopTrigger(envelope, bot);
    if (stopTrigger !== undefined) return { kind: 'stop', take: () => this.#deps.onStopTrigger(stopTrigger) };
    const workflowStep = isMessageEvent(envelope) ? undefined : parseWorkflowStep(envelope);
    if (workflowStep !== undefined)
      return { kind: 'step', take: () => this.#deps.onWorkflowStep(workflowStep).then(() => 'recorded') };
    const opened = isMessageEvent(envelope) ? undefined : parseHomeOpened(envelope);
    if (opened !== undefined) this.#afterAck(() => this.#deps.onHomeOpened(opened));
    const isHuman = (person: string) => this.#deps.isHuman({ workspace, person });
    const event = asSent && (await asPersonsEvent(asSent, bot, isHuman));
    const channel = event && findOtherBotMention(event, bot);
    const otherBots = channel === undefined ? [] : await this.#deps.otherBots({ workspace, channel });
    const inboxEvent = toInboxEvent(envelope, event, bot, otherBots);
    if (inboxEvent.kind === 'ignored') {
      const level = event?.type === 'app_mention' ? 'info' : 'debug';
      this.#deps.log[level]({ workspace, channel, why: inboxEvent.why }, 'ignored an event');
      return { kind: 'other', take: async () => 'ignored' };
    }
    const record = async (inbox: Inbox) => {
      const outcome = await inbox.accept(inboxEvent, bot);
      const source =
        'message' in inboxEvent ? inboxEvent.message : { ts: '', person: undefined, ...inboxEvent };
      const { channel, ts, person = '' } = source;
      this.#deps.log.debug({ workspace, channel, ts, outcome: outcome.kind }, 'handled an event');
      this.#afterAck(() => this.#deps.onInboxOutcome(outcome, { workspace, channel, ts, person }));
      return outcome.kind;
    };
    return { kind: inboxEvent.kind, take: record };
  }

  /** Slack names one of the installations that share a channel; the event may be for another one. */
  async #forItsInstallation(envelope: Envelope, place: EventPlace): Promise<Envelope> {
    const workspace = place.channel === '' ? place.workspace : await this.#deps.workspaceFor(place);
    return workspace === envelope.workspace ? envelope : { ...envelope, workspace, organisation: undefined };
  }

  /** Runs what can wait after the acknowledgement. */
  #afterAck(callback: () => void): void {
    setImmediate(() => {
      try {
        callback();
      } catch (error) {
        this.#deps.log.error({ err: error }, 'could not finish the work after an event');
      }
    });
  }
}

const ts = optional(slackTs);
const placeSchema = z.looseObject({ ts, thread_ts: ts, user: text });
const placedSchema = placeSchema.extend({
  channel: text,
  event_ts: ts,
  item: optional(z.looseObject({ channel: text })),
  item_user: text,
  message: optional(placeSchema),
  previous_message: optional(placeSchema),
});

interface EventPlace extends SharedEvent {
  /** When it happened. */
  at: SlackTs;
  /** Who wrote a message that is surely for the bot: a mention, or a direct message. */
  asker: EphemeralTarget | undefined;
}

/** The thread and message that an event is about: an edit and a deletion are about their message's. */
function placeOf(envelope: Envelope): EventPlace {
  const { workspace, isShared, eventType, event } = envelope;
  const placed = placedSchema.safeParse(event).data ?? {};
  const { user: person, thread_ts: threadTs, item_user: reactedTo } = placed;
  const { channel = placed.item?.channel ?? '', message = placed.previous_message ?? placed } = placed;
  const at = placed.event_ts ?? placed.ts ?? '';
  const reacted = reactedTo === undefined ? [] : [reactedTo];
  const mentioned = () => (isMessageEvent(envelope) ? mentionedIds(parseMessage(message)) : reacted);
  const isForBot = eventType === 'app_mention' || (eventType === 'message' && isDirectChannel(channel));
  const asker = isForBot && person !== undefined ? { workspace, channel, person, threadTs } : undefined;
  const thread_ts = message.thread_ts ?? message.ts ?? '';
  const about = { workspace, channel, thread_ts, ts: message.ts ?? at, writer: message.user };
  return { ...about, at, isShared, mentioned, asker };
}
