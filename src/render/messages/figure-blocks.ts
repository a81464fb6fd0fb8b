import type { ImageBlock } from '@slack/types';
import { markdownBlocks, plainText, type RenderedMessage, type SlackBlock } from '../blocks/slack-blocks.ts';
import { baseName, type Figure, figureInWords, figureOf } from '../markdown/figures.ts';
import type { AnswerPart } from '../splitting/answer-splitter.ts';
import { shorten } from '../text-format.ts';

/** What the figures of an answer came to, by their path: the Slack file that shows one, or null if the thread has it below. */
export type PlacedFigures = ReadonlyMap<string, string | null>;

/** Figures that an answer shows where its text has them: each takes a message two blocks more. */
export const MAX_FIGURES = 10;
/** Slack's limit is 2,000 characters for a picture's title and its text for screen readers. */
const MAX_TITLE_LENGTH = 300;
/** The end of a block outside of lists, quotes and tables. */
const BLOCK_END = /\n[ \t]*\n(?![ \t>|*+-]|\d{1,9}[.)])/g;

/** A figure of an answer, and the words that its messages have for it. */
interface ShownFigure extends Figure {
  words: string;
}

/** The figures of these parts, in their order. */
export function figuresIn(parts: readonly AnswerPart[]): ShownFigure[] {
  const segments = parts.flatMap((part) => part.segments);
  return segments.flatMap(({ text: words, source }) => {
    const figure = words === source ? undefined : figureOf(source);
    return figure === undefined ? [] : [{ ...figure, words }];
  });
}

/** The one of some files that a path names: the same path, or the only one of this name. */
export function fileNamed<T extends { name: string }>(path: string, files: readonly T[]): T | undefined {
  const clean = path.replace(/^(?:\.?\/)+/, '');
  const same = files.filter(({ name }) => baseName(name) === baseName(clean));
  return files.find(({ name }) => name === clean) ?? (same.length === 1 ? same[0] : undefined);
}

/**
 * A message with pictures in place of its figures' words, and other words for those whose file never came. Its
 * simpler form, for a Slack that refuses a picture or so many blocks, has words alone.
 */
export function withFigures(
  message: RenderedMessage,
  figures: readonly ShownFigure[],
  placed: PlacedFigures,
): RenderedMessage {
  if (figures.length === 0) return message;
  const below = new Map([...placed.keys()].map((path) => [path, null]));
  const wordsOnly = { ...message, blocks: withCuts(message.blocks, figures, below) };
  const blocks = withCuts(message.blocks, figures, placed);
  if (!blocks.some(({ type }) => type === 'image')) return wordsOnly;
  return { ...message, blocks, simpler: { without: 'image', message: wordsOnly } };
}

function withCuts(
  blocks: readonly SlackBlock[],
  figures: readonly ShownFigure[],
  placed: PlacedFigures,
): SlackBlock[] {
  const left = [...figures];
  return blocks.flatMap((block): SlackBlock[] => {
    if (block.type !== 'markdown') return [block];
    const pieces: SlackBlock[] = [];
    let { text } = block;
    let at = 0;
    for (let [next] = left; next !== undefined; [next] = left) {
      const start = text.indexOf(next.words, at);
      if (start === -1) break;
      left.shift();
      const file = placed.get(next.path);
      at = start + next.words.length;
      if (file === undefined) {
        const rest = text.slice(at);
        text = text.slice(0, start) + figureInWords(next) + rest;
        at = text.length - rest.length;
      } else if (file !== null) {
        const [from, to] = placeOf(text, start, at);
        pieces.push(...markdownBlocks(text.slice(0, from)), picture(next, file));
        text = text.slice(to);
        at = 0;
      }
    }
    return [...pieces, ...markdownBlocks(text)];
  });
}

/** What a picture replaces: the words that stand alone on their line; else nothing, at the end of their block. */
function placeOf(text: string, start: number, end: number): [number, number] {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  if (/^ {0,3}$/.test(before) && /^[ \t]*(?:\n|$)/.test(text.slice(end))) return [start, end];
  BLOCK_END.lastIndex = end;
  const after = BLOCK_END.exec(text)?.index ?? text.length;
  return [after, after];
}

function picture({ label, path }: ShownFigure, id: string): ImageBlock {
  const alt_text = shorten(label === '' ? baseName(path) : label, MAX_TITLE_LENGTH);
  const title = label === '' ? {} : { title: plainText(alt_text) };
  return { type: 'image', slack_file: { id }, alt_text, ...title };
}
