import type { FileReason } from '../../render/strings/index.ts';
import * as strings from '../../render/strings/index.ts';
import type { NewestMessages, ThreadMessage } from '../../slack/message-history.ts';
import type { FileNote, Message, SlackTs, TaskChoices, Thread, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { messageKeyOf } from '../../store/threads/turns.ts';
import { addresseeOf, readMentions } from '../reading/addressing.ts';
import { lookUpNames } from '../reading/display-names.ts';
import { isMessagePreview } from '../reading/message-attachments.ts';
import { parseFlags } from '../reading/message-flags.ts';
import {
  blocksOf,
  fileNamesOf,
  type ParsedMessage,
  parseMessage,
  writersOf,
} from '../reading/message-parser.ts';
import { readableText, withLeadIn } from '../reading/message-to-markdown.ts';
import { tablesAmong } from '../reading/parsed-blocks.ts';
import {
  buildTranscript,
  isCutShort,
  type LinkedMessage,
  quoteLinkedMessage,
  withTranscript,
} from '../reading/transcript.ts';
import type { RelayDeps, ThreadWork } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';
import { isNoteResent } from './file-refusals.ts';
import { type LinkedMessages, NO_LINKS, readLinkedMessages } from './linked-messages.ts';
import { taskTitle } from './thread-task.ts';

/** A person's message as the agent gets it. */
export interface OutgoingMessage {
  /** As people read it; where it is the first of a thread between people, with a transcript of that thread. */
  text: string;
  /** The task's title: the chosen one, or one made from the text. */
  title: string;
  /** The unsent messages that it quotes. */
  quoted: readonly SlackTs[];
  /** Whose words it quotes, by id. */
  quotedIds: readonly string[];
  /** What its links lead to. */
  links: LinkedMessages;
  /** The choices made in a form, or with flags at the beginning of the text. */
  choices: TaskChoices;
  /** The messages whose files and tables go with it: its own, and those that it quotes or links to. */
  withFiles: readonly ParsedMessage[];
  /** The links that were not followed, the files left out and the messages cut short, with the reasons. */
  notes: readonly FileNote[];
}

/** The message that a turn is about. Throws TurnEnded if it is gone. */
export async function messageOfTurn(deps: RelayDeps, turn: Turn): Promise<Message> {
  const message = await deps.store.messages.get(messageKeyOf(turn));
  if (message === undefined) throw new TurnEnded('withdrawn', null);
  return message;
}

/** Reads a waiting message as people read it. */
export async function readOutgoingMessage(
  work: ThreadWork,
  thread: Thread,
  message: Message,
  stopSignal?: AbortSignal,
): Promise<OutgoingMessage> {
  const { deps, workspace } = work;
  const content = message.content ?? { text: '' };
  const { own, before, linked, missing, quoted, ...pointed } = await readPointedMessages(
    work,
    thread,
    message,
    stopSignal,
  );
  const about = content.about === undefined ? undefined : before[0];
  const botUserId = workspace.bot.userId;
  const others = [...before, ...linked.flatMap((one) => [one.message, ...one.replies])];
  const names = await lookUpNames({ people: workspace.people, channel: message.channel }, own, ...others);
  const flagged = parseFlags(readableText(own, names, botUserId), deps.settings.supportedTaskOptions);
  const choices = content.choices ?? flagged.choices;
  const isBare = about !== undefined && flagged.text === '';
  const said = isBare ? readableText(about, names, botUserId) : flagged.text;
  const text = content.isCorrection === true ? withLeadIn(strings.correctionPrefix, said) : said;
  const title = choices.title ?? taskTitle(text, fileNamesOf(own));
  const quotedIds = [...new Set([own, ...others].flatMap(writersOf))];
  const { withFiles, links, maxMessages } = pointed;
  const read = { title, choices, quoted, quotedIds, withFiles, links };
  if (others.length === 0 || isBare) return { text, ...read, notes: pointed.notes };
  const { maxTranscriptCharacters: maxCharacters } = deps.settings;
  const options = { names, botUserId, maxMessages };
  const transcript = buildTranscript({ messages: before, missing, maxCharacters, ...options });
  const share = Math.floor(maxCharacters / Math.max(1, linked.length));
  const quotations = linked.map((one) => quoteLinkedMessage(one, { ...options, maxCharacters: share }));
  const cut = linked.flatMap(({ url }, index) => (quotations[index]?.isCut === true ? [url] : []));
  if (about !== undefined && isCutShort(transcript)) cut.unshift(strings.messageAskedAbout);
  const notes = [...pointed.notes, ...cut.map((name) => ({ name, reason: 'cut' satisfies FileReason }))];
  const quotation = [transcript, ...quotations.map((one) => one.text)]
    .filter((part) => part !== '')
    .join('\n\n');
  return { ...read, text: withTranscript(quotation, text), notes };
}

/**
 * When a message was first written: one that is resent or asked again stands for the message that it repeats. A
 * correction stands for itself, because the service has the message that it corrects.
 */
export async function originalTs({ store }: RelayDeps, message: Message): Promise<string> {
  for (let current = message; ; ) {
    const repeatedTurn = current.resends_turn_id ?? current.revises_turn_id;
    const turn = repeatedTurn === null ? undefined : await store.turns.get(message.workspace, repeatedTurn);
    if (turn === undefined || (current.resends_turn_id === null && turn.user_message_id !== null))
      return current.ts;
    const earlier = await store.messages.get(messageKeyOf(turn));
    if (earlier === undefined) return turn.message_ts;
    current = earlier;
  }
}

/** What people said before a message that the agent has not got. */
interface EarlierMessages {
  messages: readonly ParsedMessage[];
  missing: NewestMessages['missing'];
  /** Those of them that were not sent because people spoke to each other. */
  quoted: readonly SlackTs[];
  /** They are what people said before the agent got its first message. */
  isBeginning: boolean;
}

/** What the holder of a lease has read: the steps of one turn share it. */
const earlierMessages = new WeakMap<Lease, Map<SlackTs, EarlierMessages>>();

/**
 * The newest messages of a thread between people that come before one for the agent, read from Slack once: all before the
 * first that is sent, but for what the bot posted and mentions without a question; then those that were not sent since,
 * unless they are addressed to somebody else.
 */
async function readEarlierMessages(
  { deps, workspace, lease }: ThreadWork,
  thread: Thread,
  message: Message,
): Promise<EarlierMessages> {
  const known = earlierMessages.get(lease) ?? new Map<SlackTs, EarlierMessages>();
  earlierMessages.set(lease, known);
  const ts = await originalTs(deps, message);
  const read = known.get(ts);
  if (read !== undefined) return read;
  const isBeginning =
    thread.adopted_ts !== thread.thread_ts &&
    (ts === thread.adopted_ts || !(await deps.store.messages.isAnotherSent({ ...message, ts })));
  const quoted = message.resends_turn_id === null ? await deps.store.messages.unquoted(message) : [];
  const oldest = isBeginning ? message.thread_ts : quoted[0];
  let earlier: EarlierMessages = { messages: [], missing: undefined, quoted, isBeginning };
  if (oldest !== undefined) {
    const unsent = new Set(quoted);
    const isTold = (read: ThreadMessage) => {
      const place = { ...message, ts: read.ts, person: read.user ?? '' };
      return unsent.has(read.ts) && addresseeOf(place, parseMessage(read), workspace.bot.userId) !== 'others';
    };
    const isSaid = (read: ThreadMessage) => {
      const parsed = parseMessage(read);
      const { mentionsBot, isEmptyAfterMention } = readMentions(parsed, workspace.bot.userId);
      const isBare = mentionsBot && isEmptyAfterMention && parsed.files.length === 0;
      return read.user !== workspace.bot.userId && !isBare;
    };
    const isWanted = isBeginning ? isSaid : isTold;
    const { messages, missing } = await workspace.readBack.newestBefore({
      channel: message.channel,
      threadTs: message.thread_ts,
      oldest,
      before: ts,
      count: Math.max(1, deps.settings.maxTranscriptMessages),
      isWanted,
      signal: lease.signal,
    });
    earlier = { messages: messages.filter(isWanted).map(parseMessage), missing, quoted, isBeginning };
  }
  known.set(ts, earlier);
  return earlier;
}

/** Most files from before the first message that go along with it. */
const MAX_EARLIER_FILES = 5;

/** A message with those that it quotes: the one that it is about, or earlier ones of its thread; and those it links to. */
interface PointedMessages extends Omit<EarlierMessages, 'messages'> {
  own: ParsedMessage;
  before: readonly ParsedMessage[];
  /** Of how many earlier messages the words are quoted at most. */
  maxMessages: number;
  linked: readonly LinkedMessage[];
  links: LinkedMessages;
  /** The links that were not followed and the files left out, with the reasons. */
  notes: readonly FileNote[];
  /** The messages among these whose files and tables go with it. */
  withFiles: readonly ParsedMessage[];
}

async function readPointedMessages(
  work: ThreadWork,
  thread: Thread,
  message: Message,
  stopSignal: AbortSignal | undefined,
): Promise<PointedMessages> {
  const { maxTranscriptMessages } = work.deps.settings;
  const { about, ...content } = message.content ?? { text: '' };
  const { messages, ...earlier } =
    about === undefined
      ? await readEarlierMessages(work, thread, message)
      : { messages: [parseMessage(about)], missing: undefined, quoted: [], isBeginning: false };
  const isResent = (await findResentMessage(work.deps.store, message)) !== undefined;
  const links = isResent ? NO_LINKS : await readLinkedMessages(work, message, stopSignal);
  const withFiles: ParsedMessage[] = [];
  const parsed = parseMessage(content);
  const hasTables = tablesAmong(blocksOf(parsed)).length > 0;
  const isInThread = message.ts !== message.thread_ts;
  let firstTable = 1 + (hasTables && isInThread ? await work.deps.store.keptFiles.countTables(message) : 0);
  const keepFiles = (one: ParsedMessage, files = one.files): ParsedMessage => {
    const numbered = { ...one, firstTable };
    firstTable += tablesAmong(blocksOf(one)).length;
    withFiles.push({ ...numbered, files });
    return numbered;
  };
  const keepNewest = (
    some: readonly ParsedMessage[],
    max: number,
    filesOfOne = ({ files }: ParsedMessage) => files,
  ): ParsedMessage[] => {
    const start = Math.max(0, some.length - Math.max(0, max));
    return some.map((one, index) => (index < start ? one : keepFiles(one, filesOfOne(one))));
  };
  const own = keepFiles(parsed);
  const isLimited = earlier.isBeginning && maxTranscriptMessages > 0;
  const earlierFiles = isLimited ? messages.slice(-maxTranscriptMessages).flatMap(fileNamesOf) : [];
  const leftOut = earlierFiles.slice(0, -MAX_EARLIER_FILES);
  let leftToDrop = leftOut.length;
  const maxMessages = Math.max(maxTranscriptMessages, about === undefined ? 0 : 1);
  const before = keepNewest(messages, maxMessages, ({ files }) => {
    const dropped = Math.min(leftToDrop, files.length);
    leftToDrop -= dropped;
    return files.slice(dropped);
  });
  const linked = links.read.map((one) => ({
    ...one,
    message: keepFiles(one.message),
    replies: keepNewest(one.replies, maxTranscriptMessages - 1),
  }));
  const leftOutNotes = leftOut.map((name) => ({ name, reason: 'earlier' satisfies FileReason }));
  const notes = [...leftOutNotes, ...links.notes, ...previewNotes(withFiles, links)];
  return { own, before, maxMessages, linked, links, notes, withFiles, ...earlier };
}

/** Notes on the messages of which there is only Slack's preview: no link to them was followed. */
function previewNotes(messages: readonly ParsedMessage[], { read, notes }: LinkedMessages): FileNote[] {
  const known = [...read.map(({ url }) => url), ...notes.map(({ name }) => name)];
  const shown = messages.flatMap(({ attachments }) => attachments).filter(isMessagePreview);
  const names = new Set(shown.map(({ from_url = 'a Slack message' }) => from_url));
  return [...names]
    .filter((name) => !known.some((url) => name.startsWith(url)))
    .map((name) => ({ name, reason: 'link_preview' satisfies FileReason }));
}

/** What a turn sent to the agent, to be sent again. */
interface ResentMessage {
  content: string;
  attached_file_ids: string[];
  notes: FileNote[];
  skill: string | null;
  quoted_ids: string[];
  /** The task that it was for. */
  taskId: string | null;
}

/**
 * What a message resends, word for word and with the same files, without what was quoted of former tasks. Undefined
 * for a message with its own text.
 */
export async function findResentMessage(
  { turns }: Pick<Store, 'turns'>,
  { workspace, resends_turn_id }: Pick<Message, 'workspace' | 'resends_turn_id'>,
): Promise<ResentMessage | undefined> {
  if (resends_turn_id === null) return undefined;
  const turn: Turn | undefined = await turns.get(workspace, resends_turn_id);
  // A turn that ended before its message was frozen has nothing to resend: the message is sent like any other.
  if (turn === undefined || turn.prompt === null) return undefined;
  const { prompt, attached_file_ids, file_notes: notes, skill, quoted_ids, task_id: taskId } = turn;
  return {
    content: prompt.slice(turn.quotation_length),
    attached_file_ids: attached_file_ids ?? [],
    notes: (notes ?? []).filter(isNoteResent),
    skill,
    quoted_ids,
    taskId,
  };
}
