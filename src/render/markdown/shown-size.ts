import { shorten } from '../text-format.ts';
import { lineStart, openFenceAfter, withoutContainers } from './markdown-node.ts';

/**
 * Slack refuses a message (`msg_blocks_too_long`) by what it shows: characters, with `<`, `>` and `&` as entities, and so
 * many for each heading, about 13,200 in all. It publishes neither number; they were measured: 20 headings left room for
 * 10,563 characters, 40 for 7,875. Both have a margin here.
 */
export const MAX_SHOWN_SIZE = 12_900;
const HEADING_SIZE = 140;

const HEADING = /^#{1,6}(?:[ \t]|$)/;
const UNDERLINE = /^[ \t>]*(?:=+|-+)[ \t]*$/;

/** What a character takes beside itself: `&lt;`, `&gt;` and `&amp;` stand for one each. */
function entityAddition(character: string): number {
  if (character === '&') return 4;
  return character === '<' || character === '>' ? 3 : 0;
}

/** Counts what a Markdown text takes in a message beside its characters, rather too much than too little. */
export class ShownAddition {
  total = 0;
  #fence = '';
  /** The last line may be a heading, if the next one underlines it. */
  #isText = false;

  /** Counts the character at `at`, and with the end of a line whether it was a heading. */
  add(text: string, at: number): void {
    const character = text.charAt(at);
    this.total += entityAddition(character);
    if (character === '\n') this.#endLine(text.slice(lineStart(text, at), at));
  }

  #endLine(line: string): void {
    const content = withoutContainers(line);
    const isCode = this.#fence !== '';
    this.#fence = openFenceAfter(this.#fence, content);
    if (isCode) return;
    const isHeading = HEADING.test(content) || (this.#isText && UNDERLINE.test(line));
    if (isHeading) this.total += HEADING_SIZE;
    this.#isText = !isHeading && /[^\s>]/.test(line);
  }
}

/** What a text takes in a message, as Slack counts it. */
export function shownSize(text: string): number {
  const addition = new ShownAddition();
  const lines = `${text}\n`;
  for (let at = 0; at < lines.length; at += 1) addition.add(lines, at);
  return text.length + addition.total;
}

/** The text shortened to at most `most` characters, and half as much again as Slack counts it. */
export function shortenShown(text: string, most: number): string {
  let shown = shorten(text, most);
  while (shownSize(shown) > most * 1.5) shown = shorten(shown, Math.floor(shown.length * 0.9));
  return shown;
}
