import * as strings from './strings/index.ts';
import { toOneLine } from './text-format.ts';

// `sandbox/prompt-reader.ts` takes prompts apart by these same functions.

/** The text with its writer's name before it, for a thread where several people write. */
export function withWriterName(text: string, name: string): string {
  return withLeadIn(`${toOneLine(name) || 'Somebody'}:`, text);
}

/** A thread's first message of a second person: what the first one, `name`, wrote before names nobody. */
export function withUnnamedWriter(text: string, name: string): string {
  return `${strings.unnamedWriter(toOneLine(name))}\n\n${text}`;
}

/** The text under a heading of its own, below a quotation: what people said before, or the channel's instructions. */
export function withQuotation(
  quotation: string,
  text: string,
  heading: string = strings.questionBelow,
): string {
  return quotation === '' ? text : `${quotation}\n\n---\n\n${heading}\n\n${text}`;
}

/** The text, with lists below it of what it points at; those that are '' are left out, as a text is. */
export function withLists(text: string, ...lists: readonly string[]): string {
  return [text, ...lists].filter((part) => part !== '').join('\n\n');
}

/** A list with its heading; '' without items. */
export function headedList(heading: string, items: readonly string[]): string {
  return items.length === 0 ? '' : [heading, ...items.map((item) => `- ${item}`)].join('\n');
}

/** The text after words of its own line, or of the same line where it is a single one. */
export function withLeadIn(words: string, text: string): string {
  if (text === '') return words;
  const beginsABlock = /^(?:\s|[->#|`]|\d+\. )/.test(text);
  return text.includes('\n') || beginsABlock ? `${words}\n\n${text}` : `${words} ${text}`;
}
