import { toMarkdown } from './blocks-to-markdown.ts';
import type { DisplayNames } from './display-names.ts';
import { withoutLeadingMention } from './mentions.ts';
import { blocksOf, type ParsedMessage } from './message-parser.ts';
import { tablesAmong } from './parsed-blocks.ts';

/** The message as people read it, in Markdown, without mentions of the bot at its beginning; '' without other text. */
export function readableText(message: ParsedMessage, names: DisplayNames, botUserId: string): string {
  const content = withoutLeadingMention(blocksOf(message), botUserId);
  return toMarkdown(content, new Map([[botUserId, 'agent'], ...names]));
}

/** Whether two versions of a message have the same text and tables. What Slack adds later, such as previews, does not count. */
export function isSameAsWritten(one: ParsedMessage, other: ParsedMessage): boolean {
  const tables = (message: ParsedMessage) =>
    // Slack names blocks anew.
    JSON.stringify(
      tablesAmong(blocksOf(message)).map(({ rows }) => rows),
      (key, value: unknown) => (key === 'block_id' ? undefined : value),
    );
  return one.text === other.text && tables(one) === tables(other);
}

/** Text as one line without control characters: a name, a title or a flag's value. */
export function toSingleLine(text: string): string {
  return text
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
}

/** The text with its writer's name before it, for a thread where several people write. */
export function withWriterName(text: string, name: string): string {
  return withLeadIn(`${toSingleLine(name) || 'Somebody'}:`, text);
}

/** The text after words of its own line, or of the same line where it is a single one. */
export function withLeadIn(words: string, text: string): string {
  if (text === '') return words;
  const beginsABlock = /^(?:\s|[->#|`]|\d+\. )/.test(text);
  return text.includes('\n') || beginsABlock ? `${words}\n\n${text}` : `${words} ${text}`;
}
