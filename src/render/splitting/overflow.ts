import * as strings from '../strings/index.ts';
import type { AnswerPart } from './answer-splitter.ts';

/** What of an answer its messages do not show: a file. */
export interface AnswerRest {
  /** The name and title that people see. */
  name: string;
  title: string;
  /** Markdown: what opens the construct that the last message ended in, and the rest as the agent wrote it. */
  content: string;
  /** How many characters of `content` stand before the agent's own. */
  openerLength: number;
  /** Characters of the whole answer. */
  answerLength: number;
}

/** The first `most` parts, and the rest of the answer where there are more. */
export function splitOverflow(
  text: string,
  parts: readonly AnswerPart[],
  most: number,
): { parts: AnswerPart[]; rest: AnswerRest | undefined } {
  const shown = parts.slice(0, most);
  const next = parts[most];
  if (next === undefined) return { parts: shown, rest: undefined };
  const first = next.segments[0];
  const opener = first?.isAdded === true ? first.text : '';
  const rest = {
    name: 'rest-of-the-answer.md',
    title: strings.restOfAnswer,
    content: opener + text.slice(next.source[0]),
    openerLength: opener.length,
    answerLength: text.length,
  };
  return { parts: shown, rest };
}
