import { fitsMessage, type RenderedMessage, sectionBlock } from '../blocks/slack-blocks.ts';
import { neutralizePings } from '../markdown/pings.ts';
import { type AnswerPart, AnswerSplitter } from '../splitting/answer-splitter.ts';
import { type AnswerRest, splitOverflow } from '../splitting/overflow.ts';
import * as strings from '../strings/index.ts';
import { answerText, type ReplyBlock } from './answer-text.ts';

export interface DisplayedReview {
  /** At most as many as were asked for. */
  messages: RenderedMessage[];
  /** The rest of the findings; it becomes a file. */
  rest: AnswerRest | undefined;
  /** The rest as messages, for when a file cannot be uploaded. */
  restAsMessages: () => RenderedMessage[];
}

/** Most messages of one review without its heading: about half a million characters. */
export const MAX_REVIEW_MESSAGES = 50;

/** A review's findings, rendered like an answer below a heading, in at most `most` messages. */
export function reviewMessages(
  findings: readonly ReplyBlock[],
  most: number,
  splitter: AnswerSplitter = new AnswerSplitter(),
): DisplayedReview {
  const text = answerText(findings);
  const { parts, rest } = splitOverflow(text, splitter.parts(text, { final: true, most }), most);
  const messages =
    parts.length === 0 ? [lineMessage(strings.reviewEmpty)] : withHeading(parts.map(messageOf));
  const named = rest && { ...rest, name: 'rest-of-the-review.md', title: strings.restOfReview };
  const beyond = () => {
    const all = splitOverflow(
      text,
      splitter.parts(text, { final: true, most: MAX_REVIEW_MESSAGES }),
      MAX_REVIEW_MESSAGES,
    );
    const shown = all.parts.slice(most).map(messageOf);
    return all.rest === undefined ? shown : [...shown, lineMessage(strings.reviewTooLong)];
  };
  return { messages, rest: named, restAsMessages: beyond };
}

function messageOf({ text, blocks }: AnswerPart): RenderedMessage {
  return { text, blocks };
}

/** One line about a failed review; `reason` is what the service said, or ''. */
export function failedReviewMessage(reason: string): RenderedMessage {
  return lineMessage(neutralizePings(strings.reviewFailed(reason)));
}

function withHeading([first, ...others]: RenderedMessage[]): RenderedMessage[] {
  if (first === undefined) return [];
  const heading = lineMessage(strings.reviewHeading);
  const blocks = [...heading.blocks, ...first.blocks];
  if (!fitsMessage(blocks)) return [heading, first, ...others];
  return [{ text: `${heading.text}\n${first.text}`, blocks }, ...others];
}

function lineMessage(text: string): RenderedMessage {
  return { text, blocks: [sectionBlock(text)] };
}
