const most = 80;
const leastSentence = 12;
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/**
 * A task's title from its first question as Markdown: the first line that says something, its first
 * sentence, at most 80 graphemes. Without words it is made of the files' names.
 */
export function taskTitle(text: string, files: readonly string[] = []): string {
  const line = firstLine(text) || plain(files.join(', '));
  return line === '' ? 'New question' : cut(firstSentence(line));
}

function firstLine(text: string): string {
  for (const line of text.slice(0, 20_000).split('\n')) {
    const words = /^\s*(?:`{3,}|~{3,})/.test(line) ? '' : plain(line);
    if (/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(words)) return words;
  }
  return '';
}

/** One line without Markdown's marks. */
function plain(line: string): string {
  return line
    .slice(0, 2000)
    .replace(/^\s*(?:(?:>|#{1,6}|[-*+]|\d+[.)])\s+|>)*/, '')
    .replace(/!?\[([^[\]]+)\]\(<?[^()<>\s]*>?\)/g, '$1')
    .replace(/\*\*|~~|`/g, '')
    .replace(/(?<![\p{L}\p{N}_])_([^_\s](?:[^_]*[^_\s])?)_(?![\p{L}\p{N}_])/gu, '$1')
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .toWellFormed()
    .trim();
}

function firstSentence(line: string): string {
  for (const end of line.matchAll(/[.!?]+(?=\s+[^\s\p{Ll}])|[。！？]/gu)) {
    const sentence = line.slice(0, end.index + end[0].length);
    if (sentence.length >= leastSentence) return sentence.replace(/(?<!\.)[.。]$/u, '');
  }
  return line.replace(/(?<![.\s])[.:。]$/u, '');
}

function cut(sentence: string): string {
  const segments = [...graphemes.segment(sentence.slice(0, 4000))];
  if (segments.length <= most) return sentence;
  const room = segments.slice(0, most - 1);
  const border = segments.slice(0, most).findLastIndex(({ segment }) => segment === ' ');
  // a word that takes half of the title is cut rather than left out
  const kept = border < most / 2 ? room : room.slice(0, border);
  return `${kept
    .map(({ segment }) => segment)
    .join('')
    .replace(/[\s,;:(-]+$/, '')}…`;
}
