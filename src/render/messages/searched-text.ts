import { decodeString } from 'micromark-util-decode-string';
import { parseDelimitedTable } from '../delimited-tables.ts';
import { openFenceAfter, withoutContainers } from '../markdown/markdown-node.ts';
import { ID_KINDS } from './id-patterns.ts';

/** A text of less than `most` characters; of another the beginning, without its last word: half of an id is another id. */
export function wholeWords(text: string, most: number): string {
  if (text.length < most) return text;
  const start = text.slice(0, most);
  return start.slice(0, Math.max(0, ...[' ', '\n', '"', ','].map((end) => start.lastIndexOf(end))));
}

/**
 * What is searched of an answer: of its fenced code only references such as BibTeX, not addresses in inline code, and not
 * the marks of other inline code; cells of tables after the word of their column.
 */
export function answerToSearch(text: string): string {
  let fence = '';
  let isListing = false;
  const lines = text.split('\n').map((line) => {
    const before = fence;
    fence = openFenceAfter(before, withoutContainers(line));
    if (before === '') isListing = /[`~]\s*(?:bib|ris(?!c)|nbib|endnote)/i.test(line);
    return (before !== '' && !isListing) || fence !== before ? '' : line;
  });
  const withWords = withColumnWords(lines).join('\n');
  return readableCharacters(
    withWords.replace(/`[^`\n]+`/g, (code) => (code.includes('://') ? ' ' : ` ${code.slice(1, -1)} `)),
  );
}

/** The lines with the word of a table's column, such as "PDB ID", before each of its cells. */
function withColumnWords(lines: readonly string[]): string[] {
  let words: (string | undefined)[] = [];
  return lines.map((line, at) => {
    const cells = line.split('|');
    if (cells.length === 1) words = [];
    else if (/^[ \t>|:]*-[ \t|:-]*$/.test(lines[at + 1] ?? '')) words = cells.map(columnWord);
    else if (words.some((word) => word !== undefined))
      return cells.map((cell, column) => withWord(words[column], cell)).join('|');
    return line;
  });
}

function withWord(word: string | undefined, cell: string): string {
  return word === undefined ? cell : `${word}:${cell.trim()}`;
}

/** The word for ids in a heading such as "PMID", "PMID/DOI" and "Reference (PMID)". */
function columnWord(heading: string): string | undefined {
  const words = heading.replace(/[*`"]|^_|_$/g, '').split(/[()[\]/]/);
  const isWord = (word: string) =>
    /^DOIs?$/i.test(word) || ID_KINDS.some(({ listed }) => listed?.column.test(word) === true);
  return words.map((word) => word.trim()).find(isWord);
}

/** What is searched of a tool's result: cells of a delimited table once more, after the word of their column. */
export function resultToSearch(result: string): string {
  const lines = result.split(/\r?\n/);
  return readableCharacters([...withColumnWords(lines), ...cellsWithWords(lines)].join('\n'));
}

function cellsWithWords(lines: readonly string[]): string[] {
  const isHead = (line: string) => line.split(/[,;\t]/).some((cell) => columnWord(cell) !== undefined);
  const at = /^\s*[[{]/.test(lines[0] ?? '') ? -1 : lines.findIndex(isHead);
  const [names = [], ...rows] = at === -1 ? [] : parseDelimitedTable(lines.slice(at).join('\n'));
  const end = rows.findIndex(({ length }) => length !== names.length);
  return names.flatMap((name, column) => {
    const word = columnWord(name);
    if (word === undefined) return [];
    return rows.slice(0, end === -1 ? rows.length : end).map((row) => withWord(word, row[column] ?? ''));
  });
}

/**
 * A text without the disguises of its characters: escapes of JSON and HTML, spaces and hyphens at which no line breaks, and
 * characters without width.
 */
export function readableCharacters(text: string): string {
  return text
    .replace(/\\+\//g, '/')
    .replace(/\\+u(00(?:[2-7][\da-f]|a[0d]))/gi, (_, code: string) => decodeString(`&#x${code};`))
    .replace(/&(?:amp;)*(#\d{1,6}|#x[\da-f]{1,5}|amp|lt|gt|quot|apos|nbsp);/gi, (_, name: string) =>
      decodeString(`&${name.toLowerCase()};`),
    )
    .replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '')
    .replace(/[\u00a0\u2000-\u200a\u202f\u3000]/g, ' ')
    .replace(/[\u2010\u2011]/g, '-');
}
