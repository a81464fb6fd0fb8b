import { z } from 'zod';
import {
  type Arrival,
  isDirect,
  isWritten,
  type PersonMessage,
  wordsIn,
} from '../relay/arriving/arrivals.ts';
import type { Sign } from '../relay/controls/signs.ts';

const ts = z.string().regex(/^\d{1,10}\.\d{6}$/);

/** Ids go into the database as they are. */
const id = z.string().regex(/^[\w-]{1,100}$/);

const messageShape = z.looseObject({
  ts,
  thread_ts: ts.optional(),
  user: id.optional(),
  bot_id: z.string().nullish(),
  app_id: z.string().nullish(),
  text: z.string().default(''),
  blocks: z.array(z.unknown()).optional(),
  files: z.array(z.unknown()).optional(),
  subtype: z.string().optional(),
  edited: z.looseObject({ ts }).optional(),
  channel: id.optional(),
  channel_type: z.string().optional(),
});
type SlackMessage = z.output<typeof messageShape>;

/** Slack gives the whole channel. */
const renaming = z.looseObject({ channel: z.looseObject({ id }) });

const innerEvent = z.discriminatedUnion('type', [
  renaming.extend({ type: z.literal('channel_rename') }),
  renaming.extend({ type: z.literal('group_rename') }),
  messageShape.extend({ type: z.literal('app_mention'), channel: id }),
  messageShape.extend({
    type: z.literal('message'),
    channel: id,
    ts: ts.optional(),
    message: messageShape.optional(),
    previous_message: messageShape.optional(),
    deleted_ts: ts.optional(),
  }),
]);

const signEvent = z.discriminatedUnion('type', [
  z.looseObject({
    type: z.literal('reaction_added'),
    user: id,
    reaction: z.string().max(200),
    item: z.looseObject({ type: z.literal('message'), channel: id, ts }),
    event_ts: ts,
  }),
  z.looseObject({
    type: z.literal('agent_session_stopped'),
    user: id,
    channel: id,
    thread_ts: ts,
    event_ts: ts,
  }),
]);

const envelopeShape = z.looseObject({
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
export function isMessage({ eventType }: Envelope): boolean {
  return eventType === 'message' || eventType === 'app_mention';
}

/** Reads an event's envelope; undefined for anything that is not an event of the Events API. */
export function readEnvelope(body: unknown): Envelope | undefined {
  const envelope = envelopeShape.safeParse(body);
  if (!envelope.success) return undefined;
  const { authorizations, context_team_id, team_id, event } = envelope.data;
  const ours = [authorizations?.[0]?.team_id, context_team_id].filter((id) => typeof id === 'string');
  const { isOfAll, organisation } = installationIn(envelope.data, ours);
  // Without the organisation's id nobody could ask Slack whether the event's own team is one of its workspaces.
  const own = isOfAll && organisation === undefined && !isOrganisation(team_id) ? undefined : team_id;
  const named = [...ours, ...(own === undefined ? [] : [own])];
  // Where the whole organisation is named, the next one says which of its workspaces it was.
  const workspace = named.find((id) => !isOrganisation(id)) ?? named[0];
  return workspace === undefined ? undefined : { workspace, organisation, eventType: event.type, event };
}

/** Whose installation an event is for. The event's own organisation may be the other one of a shared channel. */
function installationIn(
  { authorizations, context_enterprise_id }: z.output<typeof envelopeShape>,
  ours: readonly string[],
): { isOfAll: boolean; organisation: string | undefined } {
  const authorization = authorizations?.[0];
  const named = ours.find(isOrganisation);
  const isOfAll = authorization?.is_enterprise_install ?? named !== undefined;
  if (!isOfAll) return { isOfAll, organisation: undefined };
  // Null says that there is none, and so it wins over the context's.
  const said =
    authorization?.enterprise_id === undefined ? context_enterprise_id : authorization.enterprise_id;
  return { isOfAll, organisation: said ?? named };
}

function isOrganisation(id: string | undefined): boolean {
  return id?.startsWith('E') === true;
}

/** The sign that a person gave with something else than words; undefined where the event is none. */
export function readSign({ workspace, event }: Envelope, bot: { userId: string }): Sign | undefined {
  const parsed = signEvent.safeParse(event);
  if (!parsed.success || parsed.data.user === bot.userId) return undefined;
  const said = parsed.data;
  const by = { workspace, person: said.user, ts: said.event_ts };
  if (said.type === 'agent_session_stopped')
    return { ...by, kind: 'session_stopped', channel: said.channel, root: said.thread_ts };
  const { channel, ts: target } = said.item;
  return { ...by, kind: 'reaction', channel, target, name: said.reaction };
}

/** Another bot or workflow (B…) that names ours in a message, and where; undefined for anything else. */
export function otherBotIn(
  { workspace, event }: Envelope,
  bot: { userId: string; botId: string },
): { workspace: string; channel: string } | undefined {
  const said = innerEvent.safeParse(event).data;
  if (said?.type !== 'message' && said?.type !== 'app_mention') return undefined;
  const { bot_id: id = null, channel, text, blocks } = said;
  if (id === null || id === bot.botId || said.user === bot.userId) return undefined;
  return JSON.stringify([text, blocks]).includes(bot.userId) ? { workspace, channel } : undefined;
}

/**
 * What an event means to us; `bot` is our own user there, whose events start nothing. `otherBots` are the bots and
 * workflows (B…) whose messages are read like people's.
 */
export function readArrival(
  envelope: Envelope,
  bot: { userId: string; botId: string },
  otherBots: readonly string[] = [],
): Arrival {
  const parsed = innerEvent.safeParse(envelope.event);
  if (!parsed.success) {
    return {
      kind: 'silence',
      why: isMessage(envelope) ? 'malformed event' : `event ${envelope.eventType} is not for us`,
    };
  }
  const event = parsed.data;
  if (event.type === 'channel_rename' || event.type === 'group_rename')
    return { kind: 'renaming', workspace: envelope.workspace, channel: event.channel.id };
  const at = { workspace: envelope.workspace, channel: event.channel, channelKind: kindOf(event) };
  if (event.type === 'message' && event.subtype === 'message_changed') {
    return readChange(at, bot, event.message, event.previous_message);
  }
  if (event.type === 'message' && event.subtype === 'message_deleted') {
    const before = event.previous_message;
    if (event.deleted_ts === undefined) return { kind: 'silence', why: 'malformed event' };
    if (before !== undefined && fromBot(before, bot)) {
      return { kind: 'silence', why: 'a deleted message of a bot' };
    }
    return {
      kind: 'deletion',
      workspace: at.workspace,
      channel: at.channel,
      ts: event.deleted_ts,
      root: before?.thread_ts ?? event.deleted_ts,
      person: before?.user,
    };
  }
  if (event.type === 'message' && renamings.has(event.subtype ?? ''))
    return { kind: 'renaming', workspace: at.workspace, channel: at.channel };
  if (event.ts === undefined) return { kind: 'silence', why: 'malformed event' };
  return readMessage(at, bot, { ...event, ts: event.ts }, otherBots);
}

/** Messages that Slack writes when a channel gets a new purpose. */
const renamings: ReadonlySet<string> = new Set(['channel_purpose', 'group_purpose']);

type Place = Pick<PersonMessage, 'workspace' | 'channel' | 'channelKind'>;

function kindOf(event: { channel: string; channel_type?: string | undefined }): PersonMessage['channelKind'] {
  const kind = event.channel_type;
  if (kind === 'channel' || kind === 'group' || kind === 'im' || kind === 'mpim') return kind;
  return isDirect(event.channel) ? 'im' : 'unknown';
}

function fromBot(message: SlackMessage, bot: { userId: string; botId: string }): boolean {
  return message.user === bot.userId || (message.bot_id ?? message.app_id ?? null) !== null;
}

function readMessage(
  at: Place,
  bot: { userId: string; botId: string },
  message: SlackMessage,
  otherBots: readonly string[] = [],
): Arrival {
  const named = otherBots.find((id) => id === message.bot_id && id !== bot.botId);
  if (named === undefined && fromBot(message, bot)) return { kind: 'silence', why: 'written by a bot' };
  const isBots = named !== undefined && message.subtype === 'bot_message';
  if (!isBots && !isWritten(message.subtype)) return { kind: 'silence', why: `subtype ${message.subtype}` };
  // A bot is known by its own id: many have no user.
  const person = named ?? message.user;
  if (person === undefined) return { kind: 'silence', why: 'nobody wrote it' };
  return {
    kind: 'message',
    message: {
      ...at,
      ts: message.ts,
      root: message.thread_ts ?? message.ts,
      person,
      words: wordsIn(message),
    },
  };
}

/** Unfurls and our own edits come as `message_changed` too: only new words with a new `edited` are a person's edit. */
function readChange(
  at: Place,
  bot: { userId: string; botId: string },
  now: SlackMessage | undefined,
  before: SlackMessage | undefined,
): Arrival {
  if (now === undefined) return { kind: 'silence', why: 'malformed event' };
  if (fromBot(now, bot)) return { kind: 'silence', why: 'an edit of a bot' };
  if (now.subtype === 'tombstone') {
    const { workspace, channel } = at;
    return { kind: 'deletion', workspace, channel, ts: now.ts, root: now.ts, person: before?.user };
  }
  const unchanged = before !== undefined && before.text === now.text;
  if (now.edited === undefined || now.edited.ts === before?.edited?.ts || unchanged) {
    return { kind: 'silence', why: 'a change that nobody wrote' };
  }
  const arrival = readMessage(at, bot, now);
  if (arrival.kind !== 'message') return arrival;
  return { kind: 'edit', message: arrival.message, editedTs: now.edited.ts };
}
