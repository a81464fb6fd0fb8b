import type { ContentBlock } from '../../agent/content-blocks.ts';
import type { NewBlock } from '../blocks/slack-blocks.ts';
import { AnswerSplitter, type SplitAnswer } from '../splitting/answer-splitter.ts';
import { answerText } from './answer-text.ts';
import { figuresIn } from './figure-blocks.ts';
import { type ShortenedAnswer, withShortTables } from './long-tables-as-csv.ts';

/** What of a reply decides which parts its answer has. */
export interface AnswerState {
  phase: string;
  blocks: readonly ContentBlock[];
  /** Character offsets at which the answer continues in a new message. */
  breaks?: readonly number[] | undefined;
  /** Most messages of the answer; the rest becomes a file. */
  maxMessages: number;
  /** The newer blocks that it may use; none if left out. */
  newBlocks?: readonly NewBlock[] | undefined;
  /** No file can have them: they are shown whole. */
  wholeTables?: boolean | undefined;
}

/** The phases in which an answer grows no more. */
export const ENDED_PHASES: ReadonlySet<string> = new Set(['done', 'cancelled', 'failed', 'length']);

/** The answer as its messages show it, with the first rows of long tables. */
export function shownAnswer(state: Pick<AnswerState, 'blocks' | 'phase' | 'wholeTables'>): ShortenedAnswer {
  if (state.wholeTables === true) return { text: answerText(state.blocks), breaks: [], tables: [] };
  return withShortTables(state.blocks, ENDED_PHASES.has(state.phase));
}

/** How the answer is split. */
export function partOptions(state: AnswerState) {
  const breaks = [...(state.breaks ?? []), ...shownAnswer(state).breaks].sort((a, b) => a - b);
  return { final: ENDED_PHASES.has(state.phase), most: state.maxMessages, breaks };
}

/** The parts of the answer; as code where its Markdown cannot be rendered. */
export function splitReply(state: AnswerState, splitter: AnswerSplitter = new AnswerSplitter()): SplitAnswer {
  const { text } = shownAnswer(state);
  const options = partOptions(state);
  try {
    return splitter.split(text, options);
  } catch (error) {
    // A live reply is rendered again later; a finished answer without Markdown is better than none.
    if (!options.final) throw error;
    splitter.showVerbatim();
    return splitter.split(text, options);
  }
}

/** Whether its tables may be such that people can sort. */
export function mayHaveDataTables({ phase, newBlocks }: AnswerState): boolean {
  return ENDED_PHASES.has(phase) && newBlocks?.includes('data_table') === true;
}

/** The paths of the figures that a finished answer shows. */
export function figurePaths(state: AnswerState, splitter: AnswerSplitter = new AnswerSplitter()): string[] {
  if (!ENDED_PHASES.has(state.phase)) return [];
  const figures = figuresIn(splitReply(state, splitter).parts);
  return figures.map(({ path }) => path);
}
