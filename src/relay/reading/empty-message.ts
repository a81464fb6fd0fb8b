import type { MessageContent } from '../../store/schema.ts';
import { NO_NAMES } from './display-names.ts';
import { readMentions } from './mentions.ts';
import { parseFlags } from './message-flags.ts';
import { blocksOf, filesOf, parseMessage } from './message-parser.ts';
import { tablesAmong } from './parsed-blocks.ts';
import { readableText } from './readable-text.ts';

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
export function isFilesOnly(content: MessageContent, botUserId: string): boolean {
  if (content.about !== undefined || content.choices !== undefined) return false;
  const message = parseMessage(content);
  const hasFiles = filesOf(content).length > 0 || tablesAmong(blocksOf(message)).length > 0;
  return hasFiles && readMentions(message, botUserId).isEmptyAfterMention;
}
