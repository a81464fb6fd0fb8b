import type { ContentBlock } from '../../agent/content-blocks.ts';
import { fitsMessage, type RenderedMessage, sectionBlock } from '../blocks/slack-blocks.ts';
import { escapeMrkdwn, neutralizePings } from '../markdown/pings.ts';
import { type AnswerRest, AnswerSplitter, splitOverflow } from '../splitting/answer-splitter.ts';
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
  const { parts, rest } = splitOverflow(text, splitter.parts(text, { final: true, most }), most);
  if (parts.length === 0) return { messages: [lineMessage(strings.reviewEmpty)] };
  const messages = withHeading(parts.map((part) => ({ text: part.text, blocks: part.blocks })));
  return { messages, rest: rest && { ...rest, name: 'rest-of-the-review.md', title: strings.restOfReview } };
}

function withHeading([first, ...others]: RenderedMessage[]): RenderedMessage[] {
  if (first === undefined) return [];
  const heading = lineMessage(strings.reviewHeading);
  const blocks = [...heading.blocks, ...first.blocks];
  if (!fitsMessage(blocks)) return [heading, first, ...others];
  return [{ text: `${heading.text}\n${first.text}`, blocks }, ...others];
}

/** A review in one line, which pings nobody. */
export function lineMessage(sentence: string): RenderedMessage {
  return { text: escapeMrkdwn(sentence), blocks: [sectionBlock(neutralizePings(sentence))] };
}
