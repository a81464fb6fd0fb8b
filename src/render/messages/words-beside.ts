import { toOneLine } from '../text-format.ts';
import { readableCharacters } from './searched-text.ts';

/** The markup of titles; "p < 0.05" has none. */
const TAG = /<\/?(?:i|b|u|em|strong|su[bp]|scp|tt|span|italic|bold|(?:mml|jats):[\w-]+)(?:\s[^<>]*)?\/?>/gi;

/** A registry's title as people read it. */
export function readableTitle(title: string): string {
  return toOneLine(readableCharacters(title).replace(TAG, '').replace(/\s+/g, ' '));
}

/** Where an entry of a list, a row or a paragraph begins. */
const BEGINS = /^\s*(?:[-*+>|]|#{1,6} |\d{1,3}[.)]|\\?\[|$)/;
/** Characters of a line that are read beside an id. */
const MAX_LINE = 600;
/** Words of any text about papers. */
const COMMON = new Set(
  'with from that this these those were have been which their than then also into about between among after before using used study studies analysis paper article report journal results pubmed pmid pmcid http https'.split(
    ' ',
  ),
);
/** Inflections and the like begin with the same letters. */
const STEM_LENGTH = 5;
/** With fewer words beside it in its line, what is said of an id may stand in the lines before. */
const MIN_WORDS = 2;

/** What a text says beside the id at a place: its line or, if that says nothing, its entry or paragraph. */
export function besideId(text: string, at: number): string {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const line = text.slice(
    Math.max(start, at - MAX_LINE),
    end < 0 ? at + MAX_LINE : Math.min(end, at + MAX_LINE),
  );
  if (stemsOf(line).size >= MIN_WORDS) return line;
  const before = text.slice(Math.max(0, start - 1 - MAX_LINE), Math.max(0, start - 1)).split('\n');
  const begins = before.findLastIndex((one) => BEGINS.test(one));
  return BEGINS.test(line) ? line : [...before.slice(Math.max(0, begins)), line].join('\n');
}

/** Words of a title that an answer gives, at least. */
const MIN_TITLE_WORDS = 3;
/** The words of a link, if they may be a title, and words in quotation marks. */
const TITLE = /\[(\p{Lu}[^\]\n]{10,300})\]\(|[“"«]([^“”"«»\n]{10,300})[”"»]/gu;
/** An entry of a list, and what is no title there: names with initials, journals with numbers, years. */
const ENTRY = /^\s*(?:(\d{1,3}[.)]|\\?\[\d{1,3}\\?\])|[-*+•])\s+(?=\S)/;
const NO_TITLE = /\d|\bet al\b/;
/** The names with initials that a reference begins with. */
const AUTHORS = /^(?:\p{Lu}[\p{L}’'-]+,? (?:\p{Lu}\.?-?){1,3}[,;.&]?\s+(?:and\s+|&\s+)?)+/u;

/**
 * Whether a title has no word in common with what stands beside its id, where that gives a title: a link's or a quoted one, or
 * a sentence of an entry of references. What prose says of a paper need not be in its title.
 */
export function isOtherTitle(title: string, beside: string): boolean {
  const [titleStems, besideStems] = [stemsOf(title), stemsOf(beside)];
  if (titleStems.size === 0 || !givesTitle(beside)) return false;
  return ![...titleStems].some((stem) => besideStems.has(stem));
}

function givesTitle(beside: string): boolean {
  const marked = [...beside.matchAll(TITLE)].map(([, label = '', quoted = '']) => label + quoted);
  const isTitle = (text: string) => stemsOf(text).size >= MIN_TITLE_WORDS;
  return marked.some(isTitle) || sentencesOfEntry(beside).some((one) => !NO_TITLE.test(one) && isTitle(one));
}

/** The sentences that have ended before the id of a numbered entry, or of another one that begins with its authors. */
function sentencesOfEntry(beside: string): string[] {
  const text = beside.trim();
  const [marker = '', number] = ENTRY.exec(text) ?? [];
  const named = text.slice(marker.length);
  const rest = named.replace(AUTHORS, '');
  const isReference = number !== undefined || (marker !== '' && rest !== named);
  return isReference ? rest.split(/(?<=[.?!]["”)]?)\s+/).slice(0, -1) : [];
}

/** The beginnings of the words that mean something: not those of ids and addresses. */
function stemsOf(text: string): Set<string> {
  const words = text
    .replace(/https?:\/\/\S+|10\.\d{4,9}\/\S+/g, ' ')
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .match(/[\p{Script=Latin}\d]{3,}/gu);
  const told = (words ?? []).filter((word) => /\p{L}/u.test(word) && (word.length > 3 || /\d/.test(word)));
  return new Set(told.filter((word) => !COMMON.has(word)).map((word) => word.slice(0, STEM_LENGTH)));
}
