import { z } from 'zod';
import { checkBlocks } from '../block-validation.ts';
import { type Block, type Channel, type Fields, isFields, type Message, type Team } from '../model.ts';
import { messageJson, permalinkOf } from '../slack-objects.ts';
import { explainedRefusal, SlackRefusal } from '../slack-refusal.ts';
import {
  flag,
  json,
  type Method,
  maybe,
  method,
  object,
  text,
  type WorkspaceDeps,
} from '../web-api-method.ts';

/** chat.postMessage truncates longer text (characters). */
const POST_TEXT_LIMIT = 40_000;
/** chat.update refuses longer text (UTF-8 bytes, the stricter reading of "4,000 characters"). */
const UPDATE_TEXT_LIMIT = 4000;

const content = {
  channel: text,
  text: maybe,
  blocks: json,
  metadata: object,
  /** The bot uses neither. */
  attachments: z.undefined().optional(),
  markdown_text: z.undefined().optional(),
};

/** The chat methods that post, edit and delete. */
export function chatMethods(deps: WorkspaceDeps): Record<string, Method> {
  const { world, messages } = deps;

  return {
    'chat.postMessage': method(
      { tier: 'post', scopes: ['chat:write'] },
      z.looseObject({ ...content, thread_ts: maybe, reply_broadcast: flag, client_msg_id: maybe }),
      (args, team) => {
        const channel = writableChannel(deps, team, args.channel);
        const said = contentOf(deps, args);
        const threadTs = isDeletedThread(channel, args.thread_ts) ? undefined : args.thread_ts;
        if (threadTs !== undefined) checkThread(channel, threadTs);
        const before = duplicateOf(deps, channel, team, args.client_msg_id);
        if (before !== undefined) return posted(deps, channel, before, { is_duplicate: true });
        const cut = said.text.length > POST_TEXT_LIMIT;
        const message = messages.post(channel, {
          user: team.bot.userId,
          botId: team.bot.botId,
          appId: team.bot.appId,
          ...said,
          text: cut ? said.text.slice(0, POST_TEXT_LIMIT) : said.text,
          threadTs,
          broadcast: args.reply_broadcast,
          clientMsgId: args.client_msg_id,
        });
        const warned = {
          warning: 'message_truncated',
          response_metadata: { warnings: ['message_truncated'] },
        };
        return posted(deps, channel, message, cut ? warned : {});
      },
    ),

    'chat.update': method(
      { tier: 'tier3', scopes: ['chat:write'] },
      z.looseObject({ ...content, ts: text }),
      (args, team) => {
        const channel = world.visibleChannel(team, args.channel);
        if (channel.archived) throw new SlackRefusal('is_inactive');
        const message = ownMessage(channel, team, args.ts, 'cant_update_message');
        if (isStreaming(message, world.clock.now())) throw new SlackRefusal('streaming_state_conflict');
        const said = contentOf(deps, args);
        if (Buffer.byteLength(args.text ?? '') > UPDATE_TEXT_LIMIT) throw new SlackRefusal('msg_too_long');
        const editedBy = said.blocks === undefined ? team.bot.userId : undefined;
        messages.edit(channel, message, { ...said, editedBy });
        return {
          channel: channel.id,
          ts: message.ts,
          text: message.text,
          message: messageJson(world, channel, message, false),
        };
      },
    ),

    'chat.delete': method(
      { tier: 'tier3', scopes: ['chat:write'] },
      z.looseObject({ channel: text, ts: text }),
      (args, team) => {
        const channel = world.visibleChannel(team, args.channel);
        const message = ownMessage(channel, team, args.ts, 'cant_delete_message');
        messages.remove(channel, message);
        return { channel: channel.id, ts: message.ts };
      },
    ),

    'chat.postEphemeral': method(
      { tier: 'tier4', scopes: ['chat:write'] },
      z.looseObject({ ...content, user: text, thread_ts: maybe }),
      (args, team) => {
        const channel = writableChannel(deps, team, args.channel);
        const said = contentOf(deps, args);
        if (!channel.members.has(args.user)) throw new SlackRefusal('user_not_in_channel');
        if (args.thread_ts !== undefined) checkThread(channel, args.thread_ts);
        const threadTs = args.thread_ts === undefined ? {} : { threadTs: args.thread_ts };
        const seen = messages.postEphemeral(channel, {
          user: args.user,
          text: said.text,
          blocks: said.blocks,
          ...threadTs,
        });
        return { message_ts: seen.ts };
      },
    ),

    'chat.getPermalink': method(
      { tier: 'special' },
      z.looseObject({ channel: text, message_ts: text }),
      (args, team) => {
        const channel = world.visibleChannel(team, args.channel);
        const message = channel.messages.get(args.message_ts);
        if (message === undefined || message.deletedAt !== undefined)
          throw new SlackRefusal('message_not_found');
        return { channel: channel.id, permalink: permalinkOf(team, message) };
      },
    ),
  };
}

/** A channel in which the bot may post; a person's id stands for their direct messages. */
export function writableChannel(deps: WorkspaceDeps, team: Team, id: string): Channel {
  const channel = team.people.has(id) ? deps.world.dm(team, id) : deps.world.visibleChannel(team, id);
  if (channel.archived) throw new SlackRefusal('is_archived');
  if (!channel.members.has(team.bot.userId)) throw new SlackRefusal('not_in_channel');
  return channel;
}

/** Whether the root was deleted and has no replies: chat.postMessage then silently posts in the channel instead. */
export function isDeletedThread(channel: Channel, threadTs: string | undefined): boolean {
  if (threadTs === undefined || channel.messages.get(threadTs)?.deletedAt === undefined) return false;
  return (channel.threads.get(threadTs) ?? []).length === 0;
}

/** @throws SlackRefusal thread_not_found, cannot_reply_to_message */
export function checkThread(channel: Channel, threadTs: string): void {
  const root = channel.messages.get(threadTs);
  const replies = channel.threads.get(threadTs) ?? [];
  if (root === undefined) throw new SlackRefusal('thread_not_found');
  if (root.deletedAt !== undefined && replies.length === 0) throw new SlackRefusal('thread_not_found');
  const isNotice = root.subtype !== undefined && /^(channel|group)_/.test(root.subtype);
  if (root.threadTs !== undefined || isNotice) throw new SlackRefusal('cannot_reply_to_message');
}

interface MessageContent {
  text: string;
  blocks: Block[] | undefined;
  metadata?: Fields;
}

/** Whether an image block has a picture that Slack has, has processed and can show. */
function showsFile({ world }: WorkspaceDeps, { slack_file: shown }: Block): boolean {
  const file = isFields(shown) && typeof shown.id === 'string' ? world.files.get(shown.id) : undefined;
  if (file === undefined || file.isDeleted === true) return false;
  return file.readyAt <= world.clock.now() && /^image\/(?:png|jpeg|gif)$/.test(file.mime);
}

function contentOf(
  deps: WorkspaceDeps,
  args: { text: string | undefined; blocks?: unknown; metadata?: Fields | undefined },
): MessageContent {
  const blocks = args.blocks === undefined ? undefined : checkBlocks(args.blocks, 'message');
  const refused = (blocks ?? []).flatMap(({ type }, at) =>
    deps.settings.refusedBlocks.includes(type)
      ? [`unsupported type: ${type} [json-pointer:/blocks/${at}/type]`]
      : [],
  );
  const unshown = (blocks ?? []).flatMap((block, at) =>
    block.type === 'image' && !showsFile(deps, block)
      ? [`invalid slack file [json-pointer:/blocks/${at}/slack_file]`]
      : [],
  );
  if (refused.length + unshown.length > 0) throw explainedRefusal('invalid_blocks', [...refused, ...unshown]);
  const metadata = args.metadata === undefined ? {} : { metadata: checkMetadata(args.metadata, deps) };
  const hasBlocks = blocks !== undefined && blocks.length > 0;
  if (args.text === undefined && !hasBlocks) throw new SlackRefusal('no_text');
  return { text: args.text ?? '', blocks: hasBlocks ? blocks : undefined, ...metadata };
}

/** Whether a stream into this message is open. */
export function isStreaming({ stream }: Message, now: number): boolean {
  return stream !== undefined && now < stream.until;
}

const plain = z.union([z.string(), z.number(), z.boolean()]);
const flat = z.record(z.string(), z.union([plain, z.null(), z.array(plain)]));
const metadataShape = z.strictObject({
  event_type: z.string().min(1).max(255),
  event_payload: z.record(z.string(), z.union([plain, z.null(), flat, z.array(z.union([plain, flat]))])),
  entities: z.array(z.unknown()).optional(),
});

export function checkMetadata(metadata: Fields, deps: WorkspaceDeps): Fields {
  if (Object.keys(metadata).length === 0) return metadata;
  if (!metadataShape.safeParse(metadata).success) throw new SlackRefusal('invalid_metadata_format');
  if (JSON.stringify(metadata).length > deps.settings.metadataLimit)
    throw new SlackRefusal('metadata_too_large');
  return metadata;
}

function duplicateOf(
  deps: WorkspaceDeps,
  channel: Channel,
  team: Team,
  clientMsgId: string | undefined,
): Message | undefined {
  if (clientMsgId === undefined || !deps.settings.clientMsgIdDedupe) return undefined;
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(clientMsgId))
    throw new SlackRefusal('invalid_arguments');
  const before = channel.clientMsgIds.get(`${team.bot.userId} ${clientMsgId}`);
  const message = before === undefined ? undefined : channel.messages.get(before);
  if (before !== undefined && message?.deletedAt !== undefined)
    throw new SlackRefusal('duplicate_message_not_found');
  return message;
}

function posted(deps: WorkspaceDeps, channel: Channel, message: Message, extra: Fields): Fields {
  return {
    channel: channel.id,
    ts: message.ts,
    message: messageJson(deps.world, channel, message, false),
    ...extra,
  };
}

export function ownMessage(channel: Channel, team: Team, ts: string, refusal: string): Message {
  const message = channel.messages.get(ts);
  if (message === undefined || message.deletedAt !== undefined) throw new SlackRefusal('message_not_found');
  if (message.user !== team.bot.userId) throw new SlackRefusal(refusal);
  return message;
}
