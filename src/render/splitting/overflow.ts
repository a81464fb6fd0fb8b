import * as strings from '../strings/index.ts';
import type { AnswerPart } from './answer-splitter.ts';
import { openerOf } from './segments.ts';

/** The rest of an answer that does not fit its messages; it becomes a file. */
export interface AnswerRest {
  name: string;
  title: string;
  /** Markdown: what reopens the construct that the last message ended in, and the rest as the agent wrote it. */
  content: string;
  /** Characters of `content` before the agent's own text. */
  openerLength: number;
  /** Length of the whole answer in characters. */
  answerLength: number;
}

/** The first `most` parts, and the rest of the answer if there are more. */
export function splitOverflow(
  text: string,
  parts: readonly AnswerPart[],
  most: number,
): { parts: AnswerPart[]; rest: AnswerRest | undefined } {
  const shown = parts.slice(0, most);
  const next = parts[most];
  if (next === undefined) return { parts: shown, rest: undefined };
  const opener = openerOf(next.segments);
  const rest = {
    name: 'rest-of-the-answer.md',
    title: strings.restOfAnswer,
    content: opener + text.slice(next.source[0]),
    openerLength: opener.length,
    answerLength: text.length,
  };
  return { parts: shown, rest };
}
