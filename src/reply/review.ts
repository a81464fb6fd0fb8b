import { answerText, type ReplyBlock } from './answer.ts';
import { Draft, type Part } from './draft.ts';
import { overflow, type Rest } from './overflow.ts';
import { neutralise } from './pings.ts';
import { BLOCKS_MOST, TEXT_MOST } from './reply-message.ts';
import { type RenderedMessage, type SlackBlock, section, textLength } from './slack-blocks.ts';
import * as words from './words.ts';

/** A review's findings as messages. */
export interface ShownReview {
  /** As many as they may take. */
  messages: RenderedMessage[];
  /** What goes beyond those, as a file. */
  rest: Rest | undefined;
  /** The same as messages, where there is no place for a file. */
  beyond: () => RenderedMessage[];
}

/** Messages of one review in all, without its heading: of about half a million characters. */
const ALL_MOST = 50;

/** A review's findings, rendered like an answer below a heading; `most` is how many messages they may take. */
export function reviewMessages(findings: readonly ReplyBlock[], most: number): ShownReview {
  const text = answerText(findings);
  const draft = new Draft();
  const { parts, rest } = overflow(text, draft.parts(text, { final: true, most }), most);
  const messages = parts.length === 0 ? [line(words.reviewEmpty)] : headed(parts.map(messageOf));
  const named = rest && { ...rest, name: 'rest-of-the-review.md', title: words.restOfReview };
  const beyond = () => {
    const all = overflow(text, draft.parts(text, { final: true, most: ALL_MOST }), ALL_MOST);
    const shown = all.parts.slice(most).map(messageOf);
    return all.rest === undefined ? shown : [...shown, line(words.reviewCut)];
  };
  return { messages, rest: named, beyond };
}

function messageOf({ text, blocks }: Part): RenderedMessage {
  return { text, blocks };
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
