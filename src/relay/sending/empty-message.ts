import * as strings from '../../render/strings/index.ts';
import type { Message, MessageContent, Turn } from '../../store/schema.ts';
import { NO_NAMES } from '../reading/display-names.ts';
import { readMentions } from '../reading/listening.ts';
import { blocksOf, parseMessage } from '../reading/message-parser.ts';
import { readableText } from '../reading/message-to-markdown.ts';
import { tablesAmong } from '../reading/pasted-tables.ts';
import { flagsOf, parseFlags } from '../reading/typed-choices.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';

/** The message asks nothing: the turn ends, unless the message is edited before that. */
export class EmptyMessage extends TurnEnded {
  readonly messageAsRead: Message;

  constructor(outcome: 'helped' | 'kept', sentence: string, messageAsRead: Message) {
    super(outcome, sentence);
    this.messageAsRead = messageAsRead;
  }
}

/** Ends the turn of a message without text, or whose first flag is misspelt: throws EmptyMessage with the help text. */
export async function endTurnIfEmpty(
  { deps, workspace }: Pick<ThreadWork, 'deps' | 'workspace'>,
  turn: Turn,
  message: Message,
): Promise<void> {
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

const ALL_FLAGS = { noFallback: true, autoMode: true, planMode: true };

/** Whether a message asks nothing: no text besides the mention and flags, no file or table, and no message it is about. */
export function isEmptyMessage(content: MessageContent, botUserId: string): boolean {
  if ((content.files ?? []).length > 0 || content.about !== undefined) return false;
  const message = parseMessage(content);
  if (tablesAmong(blocksOf(message)).length > 0) return false;
  if (readMentions(message, botUserId).isEmptyAfterMention) return true;
  return parseFlags(readableText(message, NO_NAMES, botUserId), ALL_FLAGS).text === '';
}
