import type { ImageBlock } from '@slack/types';
import { fitsMessage, plainText, type RenderedMessage, type SlackBlock } from '../blocks/slack-blocks.ts';
import { baseName, decodedPath, type Figure, figureInWords, figureOf } from '../markdown/figures.ts';
import type { AnswerPart } from '../splitting/answer-splitter.ts';
import { shorten } from '../text-format.ts';

/** What the figures of an answer came to, by their path: the Slack file that shows one, or null if the thread has it below. */
export type PlacedFigures = ReadonlyMap<string, string | null>;

/** Figures that an answer shows where its text has them: each takes a message two blocks more. */
export const MAX_FIGURES = 10;
/** Slack's limit is 2,000 characters for a picture's title and its text for screen readers. */
const MAX_TITLE_LENGTH = 300;
const MAX_BLOCKS = 50;
/** Lines of which Slack makes a block of their own, and those beside them others. */
const OWN_BLOCK = /^[ \t]{0,3}(?:#{1,6}[ \t]|\|?[ \t]*:?-[-| \t:]*$|(?:[*_][ \t]*){3,}$)/gm;
/** The end of a block outside of lists, quotes and tables. */
const BLOCK_END = /\n[ \t]*\n(?![ \t>|*+-]|\d{1,9}[.)])/g;

const DEFINITION = /^ {0,3}\[([^[\]\n]{1,300})\]:[ \t]{0,9}<?([^\s<>]{1,300})[^\n]*(?:\n|$)/gm;

/** A figure of an answer, and the words that its messages have for it. */
interface ShownFigure extends Figure {
  words: string;
}

/** The figures of these parts, in their order; what a reference names stands in `answer`. */
export function figuresIn(parts: readonly AnswerPart[], answer: string): ShownFigure[] {
  return parts.flatMap(({ segments }) =>
    segments.flatMap(({ text, source }) => {
      const figure = text !== source && source.startsWith('!') ? figureOf(source) : undefined;
      return figure === undefined
        ? []
        : [{ ...figure, path: figure.path ?? referredPath(figure, answer), words: text }];
    }),
  );
}

/** The path of the file that a reference names: `[fig1]: figures/volcano.png "Volcano plot"`. */
function referredPath({ reference = '' }: Figure, answer: string): string | undefined {
  const definitions = [...answer.matchAll(DEFINITION)];
  const target = definitions.find(([, name = '']) => name.toLowerCase() === reference.toLowerCase())?.[2];
  return target === undefined ? undefined : decodedPath(target);
}

/** The one of some files that a path names: the same path, or the only one of this name. */
export function fileNamed<T extends { name: string }>(path: string, files: readonly T[]): T | undefined {
  const clean = path.replace(/^(?:\.?\/)+/, '');
  const same = files.filter(({ name }) => baseName(name) === baseName(clean));
  return files.find(({ name }) => name === clean) ?? (same.length === 1 ? same[0] : undefined);
}

/**
 * A message with pictures in place of its figures' words, and other words for those whose file never came. The pictures
 * are left out if Slack may refuse so many blocks.
 */
export function withFigures(
  message: RenderedMessage,
  figures: readonly ShownFigure[],
  placed: PlacedFigures,
): RenderedMessage {
  if (figures.length === 0) return message;
  const wordsOnly = { ...message, blocks: withCuts(message.blocks, figures, placed, false) };
  const blocks = withCuts(message.blocks, figures, placed, true);
  const hasPictures = blocks.some(({ type }) => type === 'image');
  const most = blocks.reduce((sum, block) => sum + mostBlocksOf(block), 0);
  if (!hasPictures || most > MAX_BLOCKS || !fitsMessage(blocks)) return wordsOnly;
  return { ...message, blocks, simpler: { without: 'image', message: wordsOnly } };
}

/** Slack makes at most so many of one. */
function mostBlocksOf(block: SlackBlock): number {
  return block.type === 'markdown' ? 1 + 2 * (block.text.match(OWN_BLOCK)?.length ?? 0) : 1;
}

function withCuts(
  blocks: readonly SlackBlock[],
  figures: readonly ShownFigure[],
  placed: PlacedFigures,
  hasPictures: boolean,
): SlackBlock[] {
  const left = [...figures];
  const isPlaced = ({ path = '' }: Figure) => typeof placed.get(path) === 'string';
  const used = new Set(figures.filter(isPlaced).map(({ reference }) => reference?.toLowerCase()));
  return blocks.flatMap((block): SlackBlock[] => {
    if (block.type !== 'markdown') return [block];
    const pieces: SlackBlock[] = [];
    let text = block.text.replace(DEFINITION, (line, name: string) =>
      used.has(name.toLowerCase()) ? '' : line,
    );
    let at = 0;
    const cut = (from: number, to: number, picture: ImageBlock) => {
      if (/\S/.test(text.slice(0, from))) pieces.push({ type: 'markdown', text: text.slice(0, from) });
      pieces.push(picture);
      text = text.slice(to);
      at = 0;
    };
    for (;;) {
      const [next] = left;
      const start = next === undefined ? -1 : text.indexOf(next.words, at);
      if (next === undefined || start === -1) break;
      left.shift();
      const { path = '', words } = next;
      const file = placed.get(path);
      const end = start + words.length;
      if (file === undefined) {
        const instead = figureInWords(next);
        text = text.slice(0, start) + instead + text.slice(end);
        at = start + instead.length;
      } else if (file === null || !hasPictures) at = end;
      else if (isAlone(text, start, end)) cut(start, end, picture(next, file));
      else {
        BLOCK_END.lastIndex = end;
        const after = BLOCK_END.exec(text)?.index ?? text.length;
        cut(after, after, picture(next, file));
      }
    }
    return /\S/.test(text) ? [...pieces, { type: 'markdown', text }] : pieces;
  });
}

/** Whether nothing else stands on the line. */
function isAlone(text: string, start: number, end: number): boolean {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return /^ {0,3}$/.test(before) && /^[ \t]*(?:\n|$)/.test(text.slice(end));
}

function picture({ label, path = '' }: ShownFigure, id: string): ImageBlock {
  const alt_text = shorten(label === '' ? baseName(path) : label, MAX_TITLE_LENGTH);
  const title = label === '' ? {} : { title: plainText(alt_text) };
  return { type: 'image', slack_file: { id }, alt_text, ...title };
}
