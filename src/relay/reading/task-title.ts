import { toSingleLine } from './readable-text.ts';

const MAX_TITLE_GRAPHEMES = 80;
const MIN_SENTENCE_CHARACTERS = 12;
const graphemeSegmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** A task's title: the first sentence of its first line with words, at most 80 graphemes, or else the files' names. */
export function taskTitle(text: string, files: readonly string[] = []): string {
  const line = firstLine(text) || withoutMarkdown(files.join(', '));
  return line === '' ? 'New question' : cutToLength(firstSentence(line));
}

function firstLine(text: string): string {
  for (const line of text.slice(0, 20_000).split('\n')) {
    const plainLine = /^\s*(?:`{3,}|~{3,})/.test(line) ? '' : withoutMarkdown(line);
    if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(plainLine)) return plainLine;
  }
  return '';
}

/** One line without Markdown's markers. */
function withoutMarkdown(line: string): string {
  return toSingleLine(
    line
      .slice(0, 2000)
      .replace(/^\s*(?:(?:>|#{1,6}|[-*+]|\d+[.)])\s+|>)*/, '')
      .replace(/!?\[([^[\]]+)\]\(<?[^()<>\s]*>?\)/g, '$1')
      .replace(/\*\*|~~|`/g, '')
      .replace(/(?<![\p{L}\p{N}_])_([^_\s](?:[^_]*[^_\s])?)_(?![\p{L}\p{N}_])/gu, '$1'),
  );
}

function firstSentence(line: string): string {
  for (const end of line.matchAll(/[.!?]+(?=\s+[^\s\p{Ll}])|[。！？]/gu)) {
    const sentence = line.slice(0, end.index + end[0].length);
    if (sentence.length >= MIN_SENTENCE_CHARACTERS) return sentence.replace(/(?<!\.)[.。]$/u, '');
  }
  return line.replace(/(?<![.\s])(?:[.。]|(?<!:[\w+-]+):)$/u, '');
}

function cutToLength(sentence: string): string {
  const segments = [...graphemeSegmenter.segment(sentence.slice(0, 4000))];
  if (segments.length <= MAX_TITLE_GRAPHEMES) return sentence;
  const room = segments.slice(0, MAX_TITLE_GRAPHEMES - 1);
  const border = segments.slice(0, MAX_TITLE_GRAPHEMES).findLastIndex(({ segment }) => segment === ' ');
  // A word that takes up half of the title is cut rather than omitted.
  const kept = border < MAX_TITLE_GRAPHEMES / 2 ? room : room.slice(0, border);
  return `${kept
    .map(({ segment }) => segment)
    .join('')
    .replace(/[\s,;:(-]+$/, '')}…`;
}
