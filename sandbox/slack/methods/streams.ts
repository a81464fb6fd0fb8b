import { z } from 'zod';
import { checkBlocks } from '../block-validation.ts';
import type { Block, Channel, Message, Team } from '../model.ts';
import { SlackRefusal } from '../slack-refusal.ts';
import { json, type Method, maybe, method, object, text, type WorkspaceDeps } from '../web-api-method.ts';
import type { ThreadStatus } from './agents.ts';
import { checkMetadata, checkThread, isStreaming, ownMessage, writableChannel } from './chat.ts';

/** The most characters of one call's `markdown_text`; https://docs.slack.dev/reference/methods/chat.appendStream */
const MARKDOWN_TEXT_LIMIT = 12_000;
const MAX_BLOCKS = 50;
/** Lifetime of a stream, regardless of appends (Slack publishes no number; 303 to 318 s were measured). */
const STREAM_MS = 300_000;

const short = z.string().max(256);
const chunk = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('markdown_text'), text: z.string().max(MARKDOWN_TEXT_LIMIT) }),
  z.looseObject({
    type: z.literal('task_update'),
    id: z.string().min(1),
    title: short.optional(),
    status: z.enum(['pending', 'in_progress', 'complete', 'error']).optional(),
    details: short.optional(),
    output: short.optional(),
  }),
  z.looseObject({ type: z.literal('plan_update'), title: short }),
  z.looseObject({ type: z.literal('blocks'), blocks: z.array(z.unknown()) }),
]);

const content = { markdown_text: maybe, chunks: json };

/** The streaming methods; https://docs.slack.dev/reference/methods/chat.startStream */
export function streamMethods(
  deps: WorkspaceDeps,
  statuses: Map<string, ThreadStatus>,
): Record<string, Method> {
  const { world, messages, settings } = deps;
  const now = () => world.clock.now();
  const setStatus = (channel: Channel, message: Message, status: ThreadStatus) => {
    if (settings.agent) statuses.set(`${channel.id} ${message.threadTs}`, status);
  };
  const open = (team: Team, channelId: string, ts: string) => {
    const channel = world.visibleChannel(team, channelId);
    const message = ownMessage(channel, team, ts, 'message_not_owned_by_app');
    const { stream } = message;
    if (stream === undefined || !isStreaming(message, now()))
      throw new SlackRefusal('message_not_in_streaming_state');
    return { channel, message, stream };
  };
  const requireRoom = (shown: Added, added: Added, below: Block[] = []) => {
    if (Buffer.byteLength(shown.markdown + added.markdown) > settings.streamBytes)
      throw new SlackRefusal('msg_too_long');
    const blocks = shown.blocks.length + added.blocks.length + below.length;
    if (blocks > 2 * MAX_BLOCKS) throw new SlackRefusal('msg_blocks_too_many');
  };
  const grow = (channel: Channel, message: Message, added: Added, below: Block[] = []) => {
    const { stream } = message;
    if (stream === undefined) return;
    requireRoom(stream, added, below);
    stream.markdown += added.markdown;
    stream.blocks.push(...added.blocks);
    const words = stream.markdown === '' ? [] : [{ type: 'markdown', text: stream.markdown }];
    messages.edit(channel, message, {
      text: stream.markdown,
      blocks: [...words, ...stream.blocks, ...below],
    });
  };

  return {
    'chat.startStream': method(
      { tier: 'tier2', scopes: ['chat:write'] },
      z.looseObject({
        ...content,
        channel: text,
        thread_ts: maybe,
        recipient_user_id: maybe,
        recipient_team_id: maybe,
        task_display_mode: z.enum(['timeline', 'plan']).optional(),
      }),
      (args, team) => {
        const channel = writableChannel(deps, team, args.channel);
        if (args.thread_ts === undefined) throw new SlackRefusal('invalid_thread_ts');
        checkThread(channel, args.thread_ts);
        // A stream has one recipient; in a direct message it is implied.
        if (channel.kind !== 'im') {
          if (args.recipient_user_id === undefined) throw new SlackRefusal('missing_recipient_user_id');
          if (args.recipient_team_id === undefined) throw new SlackRefusal('missing_recipient_team_id');
        }
        const added = addedBy(args);
        requireRoom({ markdown: '', blocks: [] }, added);
        const { userId: user, botId, appId } = team.bot;
        const message = messages.post(channel, {
          user,
          botId,
          appId,
          text: '',
          threadTs: args.thread_ts,
        });
        const until = now() + STREAM_MS;
        message.stream = { markdown: '', blocks: [], until };
        if (added.markdown !== '' || added.blocks.length > 0) grow(channel, message, added);
        setStatus(channel, message, { status: 'processing', until });
        return { channel: channel.id, ts: message.ts };
      },
    ),

    'chat.appendStream': method(
      { tier: 'tier4', scopes: ['chat:write'] },
      z.looseObject({ ...content, channel: text, ts: text }),
      (args, team) => {
        const { channel, message } = open(team, args.channel, args.ts);
        const added = addedBy(args);
        if (args.markdown_text === undefined && args.chunks === undefined) throw new SlackRefusal('no_text');
        grow(channel, message, added);
        return { channel: channel.id, ts: message.ts };
      },
    ),

    'chat.stopStream': method(
      { tier: 'tier2', scopes: ['chat:write'] },
      z.looseObject({
        ...content,
        channel: text,
        ts: text,
        blocks: json,
        metadata: object,
        session_status: z.enum(['processing', 'active', 'suspended', 'closed']).optional(),
      }),
      (args, team) => {
        const { channel, message } = open(team, args.channel, args.ts);
        const added = addedBy(args);
        const below = args.blocks === undefined ? [] : checkBlocks(args.blocks, 'message');
        if (below.length > MAX_BLOCKS) throw new SlackRefusal('msg_blocks_too_many');
        if (args.metadata !== undefined) message.metadata = checkMetadata(args.metadata, deps);
        grow(channel, message, added, below);
        delete message.stream;
        setStatus(channel, message, { status: args.session_status ?? 'active' });
        return { channel: channel.id, ts: message.ts };
      },
    ),
  };
}

/** The content that a call adds to its stream. */
interface Added {
  markdown: string;
  blocks: Block[];
}

function addedBy(args: { markdown_text: string | undefined; chunks?: unknown }): Added {
  const markdown = args.markdown_text ?? '';
  if (markdown.length > MARKDOWN_TEXT_LIMIT) throw new SlackRefusal('msg_too_long');
  if (args.chunks === undefined) return { markdown, blocks: [] };
  if (args.markdown_text !== undefined) throw new SlackRefusal('markdown_text_conflict');
  const chunks = z.array(chunk).safeParse(args.chunks);
  if (!chunks.success) throw new SlackRefusal('invalid_chunks');
  const added: Added = { markdown: '', blocks: [] };
  for (const one of chunks.data) {
    if (one.type === 'markdown_text') added.markdown += one.text;
    // Slack drops blocks after the fiftieth of one chunk, with a warning.
    if (one.type === 'blocks') added.blocks.push(...checkBlocks(one.blocks.slice(0, MAX_BLOCKS), 'message'));
  }
  return added;
}
