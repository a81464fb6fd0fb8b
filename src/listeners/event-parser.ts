import { z } from 'zod';
import { parseHomeMetadata } from '../features/home/home-view.ts';
import type { WorkflowStepRun } from '../features/workflow-step.ts';
import type { StopTrigger } from '../relay/controls/stop-by-word-or-emoji.ts';
import { asPersons, type BotIdentity, isByApp, toIncomingMessage } from '../relay/reading/message-parser.ts';
import { isSameAsWritten } from '../relay/reading/message-versions.ts';
import { type InboxEvent, isDirectChannel, messageContent } from '../relay/runtime/incoming-message.ts';
import { optional, slackId, slackTs } from '../slack/field-schemas.ts';
import { messageSchema, type ThreadMessage } from '../slack/message-history.ts';
import { parseViewMetadata } from '../slack/views.ts';
import { type Envelope, isMessageEvent } from './envelope.ts';

const channelRenameSchema = z.looseObject({ channel: z.looseObject({ id: slackId }) });
const channelSchema = z.looseObject({ channel: slackId });

/** The fields that are read of an event about a message or a channel. */
export const eventSchema = z.discriminatedUnion('type', [
  channelRenameSchema.extend({ type: z.literal('channel_rename') }),
  channelRenameSchema.extend({ type: z.literal('group_rename') }),
  z.looseObject({ type: z.literal('channel_id_changed'), old_channel_id: slackId, new_channel_id: slackId }),
  channelSchema.extend({ type: z.literal('channel_deleted') }),
  channelSchema.extend({ type: z.literal('group_deleted') }),
  channelSchema.extend({ type: z.literal('member_joined_channel'), user: slackId }),
  messageSchema.extend({ type: z.literal('app_mention'), channel: slackId }),
  messageSchema.extend({
    type: z.literal('message'),
    channel: slackId,
    channel_type: optional(z.string()),
    ts: optional(slackTs),
    message: optional(messageSchema),
    previous_message: optional(messageSchema),
    deleted_ts: optional(slackTs),
  }),
]);

/** What an event says, as far as it may concern the inbox. */
export type ParsedEvent = z.output<typeof eventSchema>;

/** Whether the bot's own post, edit or deletion comes back as an event. */
export function isEcho(event: ParsedEvent | undefined, bot: BotIdentity): boolean {
  if (event?.type !== 'message') return false;
  const { user, bot_id: id } = event.message ?? event.previous_message ?? event;
  return user === bot.userId || id === bot.botId;
}

/** The event as one of people, where Slack says that they posted its message by an app. Throws what `isHuman` throws. */
export async function asPersonsEvent(
  event: ParsedEvent,
  bot: BotIdentity,
  isHuman: (id: string) => Promise<boolean>,
): Promise<ParsedEvent> {
  if (event.type === 'app_mention') return asPersons(event, bot, isHuman);
  if (event.type !== 'message') return event;
  const { message, previous_message: before, ts } = event;
  const asOne = async (one: ThreadMessage | undefined) => one && asPersons(one, bot, isHuman);
  if (message !== undefined || before !== undefined)
    return { ...event, message: await asOne(message), previous_message: await asOne(before) };
  return ts === undefined ? event : { ...event, ...(await asPersons({ ...event, ts }, bot, isHuman)) };
}

/** The channel in which another bot or workflow mentions ours, or writes to it directly; undefined for anything else. */
export function findOtherBotMention(event: ParsedEvent, bot: BotIdentity): string | undefined {
  if (event.type !== 'message' && event.type !== 'app_mention') return undefined;
  const { bot_id: id, user, channel, text, blocks, attachments, message } = event;
  if (id === undefined || id === bot.botId || user === bot.userId) return undefined;
  if (event.type === 'app_mention' || isDirectChannel(channel)) return channel;
  return JSON.stringify([text, blocks, attachments, message]).includes(bot.userId) ? channel : undefined;
}

/**
 * What an event means to the inbox. `bot` is our own user, whose events mean nothing; what `otherBots` (B…) ask counts
 * like people's. Which thread a message belongs to, and whether it is for the bot, is decided in the inbox.
 */
export function toInboxEvent(
  envelope: Envelope,
  event: ParsedEvent | undefined,
  bot: BotIdentity,
  otherBots: readonly string[],
): InboxEvent {
  const { workspace } = envelope;
  if (event === undefined)
    return ignored(isMessageEvent(envelope) ? MALFORMED : `event ${envelope.eventType} is not for us`);
  if (event.type === 'channel_rename' || event.type === 'group_rename')
    return { kind: 'renaming', workspace, channel: event.channel.id };
  if (event.type === 'channel_id_changed')
    return { kind: 'move', workspace, from: event.old_channel_id, channel: event.new_channel_id };
  const kind = event.type === 'message' ? event.channel_type : undefined;
  const isGroup = kind === undefined ? {} : { isGroup: kind === 'mpim' };
  const location = { workspace, channel: event.channel, ...isGroup };
  if (event.type === 'channel_deleted' || event.type === 'group_deleted')
    return { kind: 'channel_deletion', ...location };
  if (event.type === 'member_joined_channel')
    return event.user === bot.userId ? { kind: 'joining', ...location } : ignored('somebody else joined');
  const isChange = event.type === 'message' && event.subtype === 'message_changed';
  if (isChange && event.message?.subtype !== 'tombstone')
    return parseEdit(location, bot, event.message, event.previous_message);
  if (isChange || (event.type === 'message' && event.subtype === 'message_deleted')) {
    const { deleted_ts: ts = event.message?.ts, previous_message: before } = event;
    if (ts === undefined) return ignored(MALFORMED);
    if (isEcho(event, bot)) return ignored('our own deletion');
    // A bot is told nothing.
    const person = before !== undefined && isByApp(before) ? undefined : before?.user;
    return { kind: 'deletion', ...location, ts, thread_ts: before?.thread_ts ?? ts, person };
  }
  if (event.type === 'message' && /^(?:channel|group)_purpose$/.test(event.subtype ?? ''))
    return { kind: 'renaming', ...location };
  if (event.ts === undefined) return ignored(MALFORMED);
  // It comes as a message, too, of which the ids may count.
  if (event.type === 'app_mention' && isByApp(event) && !otherBots.includes(event.bot_id ?? ''))
    return ignored(`a mention by ${event.bot_id}, which may not ask`);
  const said = toIncomingMessage(location, { ...event, ts: event.ts }, bot, otherBots);
  if (said === undefined) return ignored(NOBODYS);
  if (event.type !== 'app_mention') return { kind: 'message', message: said };
  const message = { ...said, isMention: true };
  // Slack mentions the bot again for an edit of the same message. Edits by bots are no edits to us.
  const edited = event.bot_id === undefined ? event.edited : undefined;
  return edited === undefined ? { kind: 'message', message } : { kind: 'edit', message, editedTs: edited.ts };
}

const MALFORMED = 'malformed event';
const NOBODYS = 'by Slack, the bot itself, or nobody who may ask';

function ignored(why: string): InboxEvent {
  return { kind: 'ignored', why };
}

/** A change of a message: a person's edit, if it has a new `edited`, or more than Slack showed before. */
function parseEdit(
  location: Parameters<typeof toIncomingMessage>[0],
  bot: BotIdentity,
  now: ThreadMessage | undefined,
  before: ThreadMessage | undefined,
): InboxEvent {
  if (now === undefined) return ignored(MALFORMED);
  if (now.user === bot.userId || isByApp(now)) return ignored('an edit of a bot');
  const message = toIncomingMessage(location, now, bot, []);
  if (message === undefined) return ignored(NOBODYS);
  const editedTs = now.edited?.ts;
  const earlier = before && messageContent(before);
  const isSame = earlier !== undefined && isSameAsWritten(earlier, message.content);
  if (editedTs !== undefined && editedTs !== before?.edited?.ts && !isSame)
    return { kind: 'edit', message, editedTs, before: earlier };
  const hasPreviews =
    now.attachments !== undefined && now.attachments.length > (before?.attachments?.length ?? 0);
  if (isSame && !hasPreviews) return ignored('a change that no person made');
  return { kind: 'version', message, editedTs: editedTs ?? null, before: earlier };
}

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

/** Reads a stop by reaction or by Slack's own button; undefined for anything else, and for what the bot does itself. */
export function parseStopTrigger(
  { workspace, event }: Envelope,
  bot: { userId: string },
): StopTrigger | undefined {
  const parsed = stopTriggerSchema.safeParse(event);
  if (!parsed.success || parsed.data.user === bot.userId) return undefined;
  const data = parsed.data;
  const by = { workspace, person: data.user, ts: data.event_ts };
  if (data.type === 'agent_session_stopped')
    return { ...by, kind: 'session_stopped', channel: data.channel, thread_ts: data.thread_ts };
  const { channel, ts: target } = data.item;
  return { ...by, kind: 'reaction', channel, target, name: data.reaction };
}

const homeOpenedSchema = z.looseObject({
  type: z.literal('app_home_opened'),
  user: slackId,
  channel: slackId,
  tab: optional(z.string()),
  view: optional(z.looseObject({ private_metadata: optional(z.string()), hash: optional(z.string()) })),
});

/** Reads that a person has opened the Home tab, or their direct messages with the bot; undefined for any other event. */
export function parseHomeOpened({ workspace, event }: Envelope) {
  const { data } = homeOpenedSchema.safeParse(event);
  if (data === undefined) return undefined;
  const { user: person, channel, tab, view } = data;
  const state = parseHomeMetadata(parseViewMetadata(view?.private_metadata ?? '').metadata);
  return { workspace, person, channel, tab, state, hash: view?.hash };
}

const input = optional(z.string().trim());

/** Slack's event for a step of the app (https://docs.slack.dev/reference/events/function_executed). */
const runSchema = z.looseObject({
  type: z.literal('function_executed'),
  function: z.looseObject({ callback_id: z.literal('ask_agent') }),
  function_execution_id: slackId,
  inputs: z
    .looseObject({
      question: input,
      channel: optional(slackId),
      label: input,
      person: optional(slackId),
      model: optional(z.string().trim().toLowerCase()),
      skill: input,
      wait_for_answer: z.boolean().catch(false),
    })
    .catch({ wait_for_answer: false }),
});

/** Reads a run of the step "Ask the agent"; undefined for any other event. */
export function parseWorkflowStep({ workspace, event }: Envelope): WorkflowStepRun | undefined {
  const parsed = runSchema.safeParse(event);
  if (!parsed.success) return undefined;
  const { function_execution_id: execution_id, inputs } = parsed.data;
  const { question: text = '', channel = '', label, person, model, skill, wait_for_answer } = inputs;
  const content = {
    text,
    choices: { ...(model && { model }), ...(skill && { skill }) },
    step: { ...(label && { label }), ...(person && { person }) },
  };
  return { workspace, execution_id, channel, waits_for_answer: wait_for_answer, content };
}
