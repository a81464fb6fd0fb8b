import { filesOf, parseMessage } from '../../relay/reading/message-parser.ts';
import type { RelayDeps, WorkspaceClient } from '../../relay/runtime/deps.ts';
import { messageContent } from '../../relay/runtime/incoming-message.ts';
import type { SlackFile } from '../../slack/downloadable-files.ts';
import { undefinedIfGone } from '../../slack/errors.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import type { Message, MessageContent, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';

/** Longest reading of a question (ms): where the app is distributed, Slack lets it read once a minute. */
const READ_TIMEOUT_MS = 75_000;

/** A question as Slack has it now, and the turn that sent it. */
export interface WrittenQuestion {
  turn: Turn;
  content: MessageContent;
}

/**
 * Reads the question of a turn with its files from Slack, which knows what was edited and deleted since; undefined where it
 * is not there, or its writer was forgotten. Throws a SlackError.
 */
export async function readQuestion(
  { store }: RelayDeps,
  workspace: WorkspaceClient,
  asked: Turn,
): Promise<WrittenQuestion | undefined> {
  const { turn, message, fileIds, askers } = await writtenTurn(store, asked);
  const { channel, thread_ts: threadTs } = turn;
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const messages: ThreadMessage[] = [];
  for (const { said_ts, ts: own } of await store.messages.ofTurn(turn)) {
    const ts = said_ts ?? own;
    const found = await workspace.readBack.message({ channel, threadTs, ts, signal }).catch(undefinedIfGone);
    if (found !== undefined && found.subtype !== 'tombstone') messages.push(found);
  }
  const [read] = messages;
  if (read === undefined) return undefined;
  const isPost = read.user === workspace.bot.userId;
  // A post of ours may repeat the words of somebody who was forgotten. Its files may have been deleted since.
  const posted = () => message?.content && { ...message.content, files: [] };
  const content = isPost ? posted() : messageContent(asOne(read, messages));
  if (content == null || !message?.user_id) return undefined;
  // Files of a form, and those that were shared before the question, are not part of its message.
  const shared = new Set(sharedFiles(content).map(({ id }) => id));
  const sent = [...(await store.uploads.sent(turn.workspace, fileIds)).values()];
  const ids = new Set(
    sent.flatMap(({ slackFileId: id }) => (id === undefined || shared.has(id) ? [] : [id])),
  );
  const looked = [...ids].map((id) => workspace.downloads.lookUp(id, signal));
  const isThere = (file: SlackFile | string): file is SlackFile =>
    typeof file !== 'string' && (isSharedIn(file, channel) || (isPost && askers.has(file.user)));
  const own = filesOf(content).filter(({ mode }) => mode !== 'tombstone');
  const files = [...own, ...(await Promise.all(looked)).filter(isThere)];
  return { turn, content: { ...content, files } };
}

/** The messages of one person that went as one, in one. */
function asOne(first: ThreadMessage, all: readonly ThreadMessage[]): ThreadMessage {
  if (all.length === 1) return first;
  return {
    ...first,
    text: all.map(({ text }) => text).join('\n\n'),
    blocks: all.flatMap(({ blocks = [] }) => blocks),
    attachments: all.flatMap(({ attachments = [] }) => attachments),
    files: all.flatMap(({ files = [] }) => files),
  };
}

/** The last turn with words of its own, behind those of buttons, and its message; the files and askers of all of them. */
async function writtenTurn({ turns, messages }: Store, asked: Turn) {
  const fileIds: string[] = [];
  const askers = new Set<string | undefined>();
  let written: { turn: Turn; message: Message | undefined } | undefined;
  for (let turn = asked; ; ) {
    fileIds.push(...(turn.attached_file_ids ?? []));
    askers.add(turn.asked_by);
    const message = await messages.get(messageKeyOf(turn));
    const hasWords = message !== undefined && message.said_ts !== null && message.resends_turn_id === null;
    const earlier = await turns.madeBy(turn);
    if (hasWords || earlier === undefined) written ??= { turn, message };
    if (earlier === undefined) return { turn, message, ...written, fileIds, askers };
    turn = earlier;
  }
}

/** The files of a message, and of those that it forwards. */
function sharedFiles(content: MessageContent): SlackFile[] {
  const forwarded = parseMessage(content).attachments.flatMap(({ files = [] }) => files);
  return filesOf({ files: [...(content.files ?? []), ...forwarded] });
}

function isSharedIn({ channels = [], groups = [], ims = [] }: SlackFile, channel: string): boolean {
  return [...channels, ...groups, ...ims].includes(channel);
}
