import { z } from 'zod';
import type { StopTrigger } from '../relay/controls/stop-triggers.ts';
import {
  type InboxEvent,
  type IncomingMessage,
  isUserMessageSubtype,
  messageContent,
} from '../relay/runtime/incoming-message.ts';

const slackTs = z.string().regex(/^\d{1,10}\.\d{6}$/);

/** Ids go into the database as they are. */
const slackId = z.string().regex(/^[\w-]{1,100}$/);

const messageSchema = z.looseObject({
  ts: slackTs,
  thread_ts: slackTs.optional(),
  user: slackId.optional(),
  bot_id: z.string().nullish(),
  app_id: z.string().nullish(),
  text: z.string().default(''),
  blocks: z.array(z.unknown()).optional(),
  files: z.array(z.unknown()).optional(),
  subtype: z.string().optional(),
  edited: z.looseObject({ ts: slackTs }).optional(),
  channel: slackId.optional(),
});
type SlackMessage = z.output<typeof messageSchema>;

/** Slack gives the whole channel. */
const channelRenameSchema = z.looseObject({ channel: z.looseObject({ id: slackId }) });

const eventSchema = z.discriminatedUnion('type', [
  channelRenameSchema.extend({ type: z.literal('channel_rename') }),
  channelRenameSchema.extend({ type: z.literal('group_rename') }),
  messageSchema.extend({ type: z.literal('app_mention'), channel: slackId }),
  messageSchema.extend({
    type: z.literal('message'),
    channel: slackId,
    ts: slackTs.optional(),
    message: messageSchema.optional(),
    previous_message: messageSchema.optional(),
    deleted_ts: slackTs.optional(),
  }),
]);

const stopTriggerSchema = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('reaction_added'),
    user: slackId,
    reaction: z.string().max(200),
    item: z.looseObject({ type: z.literal('message'), channel: slackId, ts: slackTs }),
    event_ts: slackTs,
  }),
  z.looseObject({
    type: z.literal('agent_session_stopped'),
    user: slackId,
    channel: slackId,
    thread_ts: slackTs,
    event_ts: slackTs,
  }),
]);

const envelopeSchema = z.looseObject({
  type: z.literal('event_callback'),
  team_id: z.string().optional(),
  context_team_id: z.string().nullish(),
  context_enterprise_id: z.string().nullish(),
  event_id: z.string().optional(),
  authorizations: z
    .array(
      z.looseObject({
        team_id: z.string().nullish(),
        enterprise_id: z.string().nullish(),
        is_enterprise_install: z.boolean().nullish(),
        user_id: z.string().optional(),
      }),
    )
    .nullish(),
  event: z.looseObject({ type: z.string() }),
});

/** What the envelope says of an event, before anything is looked at in the store. */
export interface Envelope {
  /**
   * Where the event is for. An organisation's installation may have to take the event's own team for it, which may be
   * another organisation's (Slack Connect): who uses it asks Slack whether the installation reaches it.
   */
  workspace: string;
  /** The organisation (`E…`) whose installation it is for; undefined for a workspace's own. */
  organisation: string | undefined;
  eventType: string;
  event: Record<string, unknown>;
}

/** Whether an event tells of a message, whatever became of it. */
export function isMessageEvent({ eventType }: Envelope): boolean {
  return eventType === 'message' || eventType === 'app_mention';
}

/** Reads an event's envelope; undefined for anything that is not an event of the Events API. */
export function parseEnvelope(body: unknown): Envelope | undefined {
  const envelope = envelopeSchema.safeParse(body);
  if (!envelope.success) return undefined;
  const { authorizations, context_team_id, team_id, event } = envelope.data;
  const ours = [authorizations?.[0]?.team_id, context_team_id].filter((id) => typeof id === 'string');
  const { isOfAll: isOrganisationWide, organisation } = findInstallation(envelope.data, ours);
  // Without the organisation's id nobody could ask Slack whether the event's own team is one of its workspaces.
  const own =
    isOrganisationWide && organisation === undefined && !isOrganisationId(team_id) ? undefined : team_id;
  const named = [...ours, ...(own === undefined ? [] : [own])];
  // Where the whole organisation is named, the next one says which of its workspaces it was.
  const workspace = named.find((id) => !isOrganisationId(id)) ?? named[0];
  return workspace === undefined ? undefined : { workspace, organisation, eventType: event.type, event };
}

/** Whose installation an event is for. The event's own organisation may be the other one of a shared channel. */
function findInstallation(
  { authorizations, context_enterprise_id }: z.output<typeof envelopeSchema>,
  ours: readonly string[],
): { isOfAll: boolean; organisation: string | undefined } {
  const authorization = authorizations?.[0];
  const named = ours.find(isOrganisationId);
  const isOfAll = authorization?.is_enterprise_install ?? named !== undefined;
  if (!isOfAll) return { isOfAll, organisation: undefined };
  // Null says that there is none, and so it wins over the context's.
  const said =
    authorization?.enterprise_id === undefined ? context_enterprise_id : authorization.enterprise_id;
  return { isOfAll, organisation: said ?? named };
}

function isOrganisationId(id: string | undefined): boolean {
  return id?.startsWith('E') === true;
}

/** The sign that a person gave with something else than words; undefined where the event is none. */
export function parseStopTrigger(
  { workspace, event }: Envelope,
  bot: { userId: string },
): StopTrigger | undefined {
  const parsed = stopTriggerSchema.safeParse(event);
  if (!parsed.success || parsed.data.user === bot.userId) return undefined;
  const data = parsed.data;
  const by = { workspace, person: data.user, ts: data.event_ts };
  if (data.type === 'agent_session_stopped')
    return { ...by, kind: 'session_stopped', channel: data.channel, root: data.thread_ts };
  const { channel, ts: target } = data.item;
  return { ...by, kind: 'reaction', channel, target, name: data.reaction };
}

/** Another bot or workflow (B…) that names ours in a message, and where; undefined for anything else. */
export function findOtherBotMention(
  { workspace, event }: Envelope,
  bot: { userId: string; botId: string },
): { workspace: string; channel: string } | undefined {
  const data = eventSchema.safeParse(event).data;
  if (data?.type !== 'message' && data?.type !== 'app_mention') return undefined;
  const { bot_id: id = null, channel, text, blocks } = data;
  if (id === null || id === bot.botId || data.user === bot.userId) return undefined;
  return JSON.stringify([text, blocks]).includes(bot.userId) ? { workspace, channel } : undefined;
}

/**
 * What an event means to us; `bot` is our own user there, whose events start nothing. `otherBots` are the bots and
 * workflows (B…) whose messages are read like people's.
 */
export function parseInboxEvent(
  envelope: Envelope,
  bot: { userId: string; botId: string },
  otherBots: readonly string[] = [],
): InboxEvent {
  const parsed = eventSchema.safeParse(envelope.event);
  if (!parsed.success) {
    return {
      kind: 'silence',
      why: isMessageEvent(envelope) ? 'malformed event' : `event ${envelope.eventType} is not for us`,
    };
  }
  const event = parsed.data;
  if (event.type === 'channel_rename' || event.type === 'group_rename')
    return { kind: 'renaming', workspace: envelope.workspace, channel: event.channel.id };
  const location = { workspace: envelope.workspace, channel: event.channel };
  if (event.type === 'message' && event.subtype === 'message_changed') {
    return parseEdit(location, bot, event.message, event.previous_message);
  }
  if (event.type === 'message' && event.subtype === 'message_deleted') {
    const before = event.previous_message;
    if (event.deleted_ts === undefined) return { kind: 'silence', why: 'malformed event' };
    if (before !== undefined && isFromBot(before, bot)) {
      return { kind: 'silence', why: 'a deleted message of a bot' };
    }
    return {
      kind: 'deletion',
      workspace: location.workspace,
      channel: location.channel,
      ts: event.deleted_ts,
      root: before?.thread_ts ?? event.deleted_ts,
      person: before?.user,
    };
  }
  if (event.type === 'message' && PURPOSE_SUBTYPES.has(event.subtype ?? ''))
    return { kind: 'renaming', workspace: location.workspace, channel: location.channel };
  if (event.ts === undefined) return { kind: 'silence', why: 'malformed event' };
  return parseMessage(location, bot, { ...event, ts: event.ts }, otherBots);
}

/** Messages that Slack writes when a channel gets a new purpose. */
const PURPOSE_SUBTYPES: ReadonlySet<string> = new Set(['channel_purpose', 'group_purpose']);

type MessageLocation = Pick<IncomingMessage, 'workspace' | 'channel'>;

function isFromBot(message: SlackMessage, bot: { userId: string; botId: string }): boolean {
  return message.user === bot.userId || (message.bot_id ?? message.app_id ?? null) !== null;
}

function parseMessage(
  location: MessageLocation,
  bot: { userId: string; botId: string },
  message: SlackMessage,
  otherBots: readonly string[] = [],
): InboxEvent {
  const otherBot = otherBots.find((id) => id === message.bot_id && id !== bot.botId);
  if (otherBot === undefined && isFromBot(message, bot)) return { kind: 'silence', why: 'written by a bot' };
  const isFromAllowedBot = otherBot !== undefined && message.subtype === 'bot_message';
  if (!isFromAllowedBot && !isUserMessageSubtype(message.subtype))
    return { kind: 'silence', why: `subtype ${message.subtype}` };
  // A bot is known by its own id: many have no user.
  const person = otherBot ?? message.user;
  if (person === undefined) return { kind: 'silence', why: 'nobody wrote it' };
  return {
    kind: 'message',
    message: {
      ...location,
      ts: message.ts,
      root: message.thread_ts ?? message.ts,
      person,
      content: messageContent(message),
    },
  };
}

/** Unfurls and our own edits come as `message_changed` too: only new words with a new `edited` are a person's edit. */
function parseEdit(
  location: MessageLocation,
  bot: { userId: string; botId: string },
  now: SlackMessage | undefined,
  before: SlackMessage | undefined,
): InboxEvent {
  if (now === undefined) return { kind: 'silence', why: 'malformed event' };
  if (isFromBot(now, bot)) return { kind: 'silence', why: 'an edit of a bot' };
  if (now.subtype === 'tombstone') {
    const { workspace, channel } = location;
    return { kind: 'deletion', workspace, channel, ts: now.ts, root: now.ts, person: before?.user };
  }
  const unchanged = before !== undefined && before.text === now.text;
  if (now.edited === undefined || now.edited.ts === before?.edited?.ts || unchanged) {
    return { kind: 'silence', why: 'a change that nobody wrote' };
  }
  const event = parseMessage(location, bot, now);
  if (event.kind !== 'message') return event;
  return { kind: 'edit', message: event.message, editedTs: now.edited.ts };
}
