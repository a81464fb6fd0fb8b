import { toOneLine } from '../text-format.ts';
import { readableCharacters } from './searched-text.ts';

/** The markup of titles, with the second form of formulas in TeX; "p < 0.05" has none. */
const TAG =
  /(?<=<\/tex-math>\s{0,9})<alternatives>[\s\S]{0,1000}?<\/alternatives>|<\/?(?:i|b|u|em|strong|su[bp]|inf|sc|scp|tt|span|italic|bold|inline-formula|inline-graphic|alternatives|tex-math|(?:mml|jats):[\w-]+)(?:\s[^<>]*)?\/?>/gi;

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
  'with from that this these those were have been which their than then also into about between among after before using used study studies analysis paper article report journal results pubmed pmid pmcid http https read view open access available full text version publisher published website supplementary abstract abstracts poster presentation presentations proceedings editorial letter comment correspondence reply epub'.split(
    ' ',
  ),
);
/** Inflections and the like begin with the same letters. */
const STEM_LENGTH = 5;
/** With fewer words beside it in its line, what is said of an id may stand in the lines before. */
const MIN_WORDS = 2;

/** What an answer says where it names a source, and whether that gives a title of it. */
export interface Beside {
  beside: string;
  isTitled: boolean;
}

/** What a text says beside the id at a place: its line or, if that says nothing, its entry or paragraph. */
export function besideId(text: string, at: number): Beside {
  const start = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const from = Math.max(start, at - MAX_LINE);
  const line = text.slice(from, end < 0 ? at + MAX_LINE : Math.min(end, at + MAX_LINE));
  const before = text.slice(Math.max(0, start - 1 - MAX_LINE), Math.max(0, start - 1)).split('\n');
  const begins = before.findLastIndex((one) => BEGINS.test(one));
  const isWhole = stemsOf(line).size >= MIN_WORDS || BEGINS.test(line);
  const lines = isWhole ? [] : before.slice(Math.max(0, begins));
  const isTitled = endsWithTitle([...lines, text.slice(from, at)].join('\n'));
  return { beside: [...lines, line].join('\n'), isTitled };
}

/** The link of the id, and words in quotation marks before it that begin a line or are called a paper. */
const LINKED = /\[(\p{Lu}[^\]\n]{10,300})\]\(<?$/u;
const QUOTED = /[“"„«](\p{Lu}[^“”"„«»\n]{10,300})[”"“»]/u;
const QUOTED_LAST =
  /[“"„«](?<=(?:^[^\p{L}\n]{0,20}|\b(?:[Ss]ee|[Ii]n|paper|article|study|review|titled|and)\s).)(\p{Lu}[^“”"„«»\n]{10,300})[”"“»]\P{L}*(?:(?:doi|DOI|PMID)\P{L}*)?(?!.|\n)/mu;
/** What is no title of a link: what to do with it, a name with others, a year, and what a paper is called. */
const NO_LABEL =
  /^(?:Access|Click|Download|Full|Link|Open|Original|Read|See|View|Visit)\b|^\p{Lu}[\p{L}’'-]+(?:,| and | & )|\d|\bet al\b|\b(?:papers?|articles?|preprints?|report|website|page)\b/u;
/** An entry of a list, and what is no title there: names with initials, journals with numbers, years. */
const ENTRY = /^\s*(?:(\d{1,3}[.)]|\(\d{1,3}\)|\\?\[\^?\d{1,3}\\?\]:?)|[-*+•])\s+(?=\S)/;
const NO_TITLE = /(?:^|[\s(])\d|\bet al\b/;
/** Words of sentences about papers. Titles seldom have them. */
const PROSE = /\b(?:is|are|was|were|has|have|had|did|does|can|could|will|would|may|might|we|our|it|they)\b/i;
/** The names with initials that a reference begins with. */
const AUTHORS = /^(?:\p{Lu}[\p{L}’'-]+,? (?:\p{Lu}\.?-?){1,3}[,;.&]?\s+(?:and\s+|&\s+)?)+/u;
/** The volume, issue or pages of a reference. */
const VOLUME = /\d\s?[;:(]\s?\d|\d\*{0,2}\)?, \*{0,2}[a-z]?\d|\b(?:vol|pp?)\. ?\d/i;
/** Words of titles in other languages than English: a registry may have one that is cited in English. */
const FOREIGN =
  /(?<!\p{L})(?:der|das|und|zur|zum|von|über|bei|durch|für|eine[rs]?|de(?! novo)|les?|la|des|du|et(?! al)|une?|sur|chez|el|los|las|del|y|por|il|di|dell[ae]|nel|dos|da|em|het|een|van|voor|och|hos|på|oraz|się)(?!\p{L})/iu;
/** PubMed has the titles that it translated in brackets; other registries have them in their own scripts and letters. */
const TRANSLATED = /^\[|(?:(?![\p{sc=Latin}\p{sc=Greek}])\p{L}){2}|(?<!\p{L})\p{Ll}+[ß-öø-ɏḀ-ỿ]/u;
/** A name with such words and initials, such as "van der Meer J". */
const NAME = /(?:(?<!\p{L})\p{L}{2,3} )+\p{Lu}[\p{L}’'-]+,? \p{Lu}{1,3}(?!\p{L})/gu;

/**
 * Whether a title has no word in common with what stands beside its id, where that gives a title: a link's or a quoted one, or
 * a sentence of an entry of references. What prose says of a paper need not be in its title, nor a title in another language.
 */
export function isOtherTitle(title: string, { beside, isTitled }: Beside): boolean {
  const [titleStems, besideStems] = [stemsOf(title), stemsOf(beside)];
  const isForeign = TRANSLATED.test(title) || FOREIGN.test(`${title} ${beside.replace(NAME, '')}`);
  const isComparable = titleStems.size >= MIN_WORDS && !isForeign;
  return isTitled && isComparable && ![...titleStems].some((stem) => besideStems.has(stem));
}

/** Whether a text up to an id gives a title of what the id names. */
function endsWithTitle(text: string): boolean {
  const isLong = (words = '', least = 3) => stemsOf(words).size >= least;
  const isTitle = (words = '') => isLong(words) && !PROSE.test(words);
  // Names and journals have fewer words in lower case.
  const isSentence = (words: string) => (words.match(/(?<!\p{L})\p{Ll}{4,}/gu)?.length ?? 0) > 1;
  const label = LINKED.exec(text)?.[1];
  if (label !== undefined) return !NO_LABEL.test(label) && isLong(label, isSentence(label) ? undefined : 5);
  if (isTitle(QUOTED_LAST.exec(text)?.[1])) return true;
  // Another id has what stands before it.
  const words = /.*(?:10\.\d{4,9}\/\S+|\bPMID\W{1,3}\d+)(.*)$/su.exec(text)?.[1]?.match(/\p{L}{4,}/gu) ?? [];
  if (words.some((word) => !COMMON.has(word.toLowerCase()))) return false;
  const [marker = '', number] = ENTRY.exec(text) ?? [];
  const named = text.slice(marker.length).trim();
  const rest = named.replace(AUTHORS, '');
  const pieces = rest.split(/(?<=[.?!][*_"”)]{0,3})\s+/);
  const at = pieces.findIndex((piece) => !NO_TITLE.test(piece) && isSentence(piece) && isTitle(piece));
  const [quoted = ''] = [QUOTED.exec(rest)?.[1]].filter(isTitle);
  // After a title stand its journal, and then its volume or year.
  const after = quoted === '' ? pieces.slice(at + 1).join(' ') : (rest.split(quoted)[1] ?? '');
  if (quoted === '' && at < 0) return false;
  if (number !== undefined && at === 0 && /^\P{L}*(?:(?:doi|pmid)\P{L}*)?$/iu.test(after)) return true;
  const isReference = VOLUME.test(after)
    ? rest !== named || number !== undefined
    : /\b(?:19|20)\d\d\b/.test(after) && rest !== named;
  return isReference && /^[\s,.*_“”»"[(]*(?!Epub)\p{L}/u.test(after);
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
