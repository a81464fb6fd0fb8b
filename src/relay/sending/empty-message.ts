import * as strings from '../../render/strings/index.ts';
import type { Message, MessageContent, Turn } from '../../store/schema.ts';
import { NO_NAMES } from '../reading/display-names.ts';
import { readMentions } from '../reading/listening.ts';
import { blocksOf, filesOf, parseMessage } from '../reading/message-parser.ts';
import { readableText } from '../reading/message-to-markdown.ts';
import { tablesAmong } from '../reading/pasted-tables.ts';
import { flagsOf, parseFlags } from '../reading/typed-choices.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import type { Attachments } from './attachments.ts';
import { findResentMessage } from './outgoing-message.ts';

/** The message asks nothing: the turn ends, unless the message is edited before that. */
export class EmptyMessage extends TurnEnded {
  readonly messageAsRead: Message;

  constructor(outcome: 'helped' | 'kept', sentence: string, messageAsRead: Message) {
    super(outcome, sentence);
    this.messageAsRead = messageAsRead;
  }
}

type Work = Pick<ThreadWork, 'deps' | 'workspace'>;

/** Ends the turn of a message without text, or whose first flag is misspelt: throws EmptyMessage with the help text. */
export async function endTurnIfEmpty({ deps, workspace }: Work, turn: Turn, message: Message): Promise<void> {
  const { content } = message;
  if (turn.prompt !== null || content === null) return;
  const botUserId = workspace.bot.userId;
  if (isEmptyMessage(content, botUserId)) {
    const help = isDirectChannel(turn.channel) ? strings.helpInDm : strings.help;
    const { task_id } = await deps.store.threads.getOrThrow(turn);
    throw new EmptyMessage('helped', task_id === null ? help : strings.helpInThread, message);
  }
  const { misspelt } = flagsOf(content, botUserId, deps.settings.supportedTaskOptions);
  if (misspelt !== undefined) throw new EmptyMessage('helped', strings.unknownFlag(misspelt), message);
}

/** Ends the turn of a message of files alone, which are kept for the thread's next message: throws EmptyMessage. */
export async function endTurnIfFilesOnly(
  { deps, workspace }: Work,
  turn: Turn,
  message: Message,
  sender: { keepFiles(): Promise<Attachments> },
): Promise<void> {
  if (turn.prompt !== null || message.content === null) return;
  if (!isFilesOnly(message.content, workspace.bot.userId)) return;
  if ((await findResentMessage(deps.store, message)) !== undefined) return;
  const { attached_file_ids, notes } = await sender.keepFiles();
  await deps.store.turns.record(turn, { attached_file_ids, file_notes: notes });
  const kept = notes.filter(({ reason }) => reason === null || reason === 'external');
  const names = kept.map(({ name }) => name);
  const sentence = names.length === 0 ? strings.noUsableFiles : strings.filesReceived(names);
  throw new EmptyMessage('kept', sentence, message);
}

const ALL_FLAGS = { noFallback: true, autoMode: true, planMode: true };

/** Whether a message asks nothing: no text besides the mention and flags, no file or table, and no message it is about. */
export function isEmptyMessage(content: MessageContent, botUserId: string): boolean {
  if ((content.files ?? []).length > 0 || content.about !== undefined) return false;
  const message = parseMessage(content);
  if (tablesAmong(blocksOf(message)).length > 0) return false;
  if (readMentions(message, botUserId).isEmptyAfterMention) return true;
  return parseFlags(readableText(message, NO_NAMES, botUserId), ALL_FLAGS).text === '';
}

/** Whether a message is files and tables, and nothing else. */
function isFilesOnly(content: MessageContent, botUserId: string): boolean {
  if (content.about !== undefined || content.choices !== undefined) return false;
  const message = parseMessage(content);
  const hasFiles = filesOf(content).length > 0 || tablesAmong(blocksOf(message)).length > 0;
  return hasFiles && readMentions(message, botUserId).isEmptyAfterMention;
}
