import * as strings from '../../render/strings/index.ts';
import type { MessageContent, Turn } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import { isFrozen } from '../../store/threads/turn-phase.ts';
import { NO_NAMES } from '../reading/display-names.ts';
import { readMentions } from '../reading/listening.ts';
import { blocksOf, parseMessage } from '../reading/message-parser.ts';
import { readableText } from '../reading/message-to-markdown.ts';
import { tablesAmong } from '../reading/pasted-tables.ts';
import { flagsOf, parseFlags } from '../reading/typed-choices.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';

/** Ends the turn of a message without text, or whose first flag is misspelt: throws TurnEnded with the help text. */
export async function endTurnIfEmpty(
  { deps, workspace }: Pick<ThreadWork, 'deps' | 'workspace'>,
  turn: Turn,
  message: WholeMessage,
): Promise<void> {
  const { content, parts } = message;
  if (isFrozen(turn) || content === null) return;
  const botUserId = workspace.bot.userId;
  if (parts.every((part) => part.content !== null && isEmptyMessage(part.content, botUserId))) {
    const help = isDirectChannel(turn.channel) ? strings.helpInDm : strings.help;
    const { task_id } = await deps.store.threads.getOrThrow(turn);
    const sentence = task_id === null ? help : strings.helpInThread;
    throw new TurnEnded('helped', sentence, { emptyMessage: message });
  }
  const { misspelt } = flagsOf(content, botUserId, deps.settings.supportedTaskOptions);
  if (misspelt !== undefined)
    throw new TurnEnded('helped', strings.unknownFlag(misspelt), { emptyMessage: message });
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
