import { answerText, type ReplyBlock } from './answer.ts';
import { splitAnswer } from './draft.ts';
import { overflow, type Rest } from './overflow.ts';
import { neutralise } from './pings.ts';
import { BLOCKS_MOST, TEXT_MOST } from './reply-message.ts';
import { type RenderedMessage, type SlackBlock, section, textLength } from './slack-blocks.ts';
import * as words from './words.ts';

/** A review's findings as messages. */
export interface ShownReview {
  /** As many as they may take. */
  messages: RenderedMessage[];
  /** What goes beyond those: as a file, or, where there is no place for one, as messages. */
  rest: Rest | undefined;
  beyond: RenderedMessage[];
}

/** A review's findings, rendered like an answer below a heading; `most` is how many messages they may take. */
export function reviewMessages(findings: readonly ReplyBlock[], most: number): ShownReview {
  const text = answerText(findings);
  const parts = splitAnswer(text);
  if (parts.length === 0) return { messages: [line(words.reviewEmpty)], rest: undefined, beyond: [] };
  const { rest } = overflow(text, parts, most);
  const all = parts.map((part): RenderedMessage => ({ text: part.text, blocks: part.blocks }));
  const messages = headed(all.slice(0, most));
  const named = rest && { ...rest, name: 'rest-of-the-review.md', title: words.restOfReview };
  return { messages, rest: named, beyond: all.slice(most) };
}

/** One line on a review that failed; `said` are the service's words. */
export function failedReview(said: string): RenderedMessage {
  return line(neutralise(words.reviewFailed(said)));
}

function headed([first, ...others]: RenderedMessage[]): RenderedMessage[] {
  if (first === undefined) return [];
  const heading = line(words.reviewHeading);
  const blocks = [...heading.blocks, ...first.blocks];
  if (!fits(blocks)) return [heading, first, ...others];
  return [{ text: `${heading.text}\n${first.text}`, blocks }, ...others];
}

function line(text: string): RenderedMessage {
  return { text, blocks: [section(text)] };
}

function fits(blocks: readonly SlackBlock[]): boolean {
  return blocks.length <= BLOCKS_MOST && textLength(blocks) <= TEXT_MOST;
}
