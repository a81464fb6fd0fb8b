import type { ContentBlock } from '../../agent/content-blocks.ts';
import { plainMessage, type RenderedMessage } from '../blocks/slack-blocks.ts';
import { type AnswerRest, AnswerSplitter } from '../splitting/answer-splitter.ts';
import * as strings from '../strings/index.ts';
import { answerText } from './answer-text.ts';

export interface DisplayedReview {
  /** At most one more than were asked for. */
  messages: RenderedMessage[];
  /** The rest of the findings; it becomes a file. */
  rest?: AnswerRest | undefined;
}

/** A review's findings, rendered like an answer below a heading; each message is the same whatever `most` is. */
export function reviewMessages(
  findings: readonly ContentBlock[],
  most: number,
  splitter: AnswerSplitter = new AnswerSplitter(),
): DisplayedReview {
  const text = answerText(findings);
  const { parts, rest } = splitter.split(text, { final: true, most });
  const [first, ...more] = parts.map((part): RenderedMessage => ({ text: part.text, blocks: part.blocks }));
  if (first === undefined) return { messages: [plainMessage(strings.reviewEmpty)] };
  // Each part leaves room for more than this line.
  const heading = plainMessage(strings.reviewHeading);
  const headed = { text: `${heading.text}\n${first.text}`, blocks: [...heading.blocks, ...first.blocks] };
  const named = rest && { ...rest, name: 'rest-of-the-review.md', title: strings.restOfReview };
  return { messages: [headed, ...more], rest: named };
}
