import { DOI_ADDRESS, USER_PART } from './unsafe-links.ts';

/*
 * Markdown ends a bare address only at a space or `<`. People and agents also end it at punctuation of other scripts, at the
 * `'s` of English, at a citation (`^1^`, `[1]`), at the quote or brace around it, as in JSON, BibTeX and HTML, and before a
 * further address. Old DOIs hold `<`, `>` and `#`.
 */
/** Punctuation that no address holds; among it are letters and digits, such as `々`, `〇` and `Ａ`. */
export const PUNCTUATION =
  '\u3000-\u3004\u3008-\u3020\u3030\u303d-\u303f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\uffe0-\uffef“”„«»—';
const TITLE_START = `(?<=[^\\0-~${PUNCTUATION}])（[^\\s<>"（）]{0,60}`;
/** Wide brackets at the end of a title in an address. After ASCII they hold a remark. */
export const TITLE_END = `${TITLE_START}）(?!\\w|[^\\0-~${PUNCTUATION}])`;
/** Before the next address of a list, which is not in the value of a query, nor in angle brackets. */
export const NEXT_ADDRESS = '[,;](?=https?://)(?<![=<]https?://[^\\s<>"()]{0,1000})';
const CITATION = '\\[(?=\\^?\\d{1,3}(?:[,–-]\\d{1,3})*$)|\\^(?=\\d[\\d,–-]*\\^)';
/** The end of what began before the address. */
const AROUND = `"|'(?=[\\])},;:>])|\\}`;
/** What an address holds of its own: such a title, a quoted value, and what stands between braces, up to five deep. */
const OWN = new RegExp(`${TITLE_END}|(?<=[=+(:[{,])(?:"[^"]*(?:"|$)|'[^']*')|\\{[^{}]*\\}`, 'g');
const END = new RegExp(`[${PUNCTUATION}]|['’]s$|${NEXT_ADDRESS}|${CITATION}|${AROUND}`, 'i');
const HOLDS_DOI = /^[^?#]*\/10\.\d{4,9}\//;
const AFTER_DOI = `'s$|[,;](?=https?://)|[,;(](?=[a-z]{1,9}(?:$|=|[^!-~]))|\\^(?=\\{?\\d)|${CITATION}`;
/** What those that hold a DOI end with. */
const DOI_HOLDER_END = new RegExp(AFTER_DOI, 'i');
/** What those that lead to a DOI end with: nearly all DOIs are ASCII. */
const DOI_END = new RegExp(`[^!-~\ufdd4]|${AFTER_DOI}`, 'i');
/** What Markdown leaves out at the end of an address. */
const TRAILING = /\\*[!"'*,.:;?_~)]$/;
/** What cannot stand in angle brackets, or is no address that people write. */
const UNUSUAL = new RegExp(`[<>]|^https?://${USER_PART}`, 'i');
const MAX_LENGTH = 1_000;
/** A backslash before what Markdown would read as a mark in other text. */
export const ESCAPE = /\\(?=[_()~&#+=*-])/g;
/** The beginning of an address that goes on; what has an end is whole. */
export const UNFINISHED_ADDRESS = new RegExp(
  `(?:https?://[^\\s${PUNCTUATION}]*(?:${TITLE_START}）?)?|www\\.\\S*|(?<![a-z\\d])(?:ht(?:t(?:ps?:?/?)?)?|www?))$`,
  'iu',
);

/** A bare address, as the parser reads it, in pieces: the address, and the text and addresses that follow it without a space. */
export function* bareAddresses(source: string): Generator<{ piece: string; isAddress: boolean }> {
  for (let rest = source; rest !== ''; ) {
    const isAddress = /^https?:/i.test(rest);
    const end = isAddress ? endOf(rest) : rest.search(/(?<![a-z])https?:/i);
    const piece = end < 0 ? rest : rest.slice(0, end);
    yield { piece, isAddress };
    rest = rest.slice(piece.length);
  }
}

function endOf(address: string): number {
  let known = address.slice(0, MAX_LENGTH);
  for (let depth = 0; depth < 5; depth += 1) known = known.replace(OWN, (own) => '.'.repeat(own.length));
  const to = known.search(END);
  const first = to < 0 ? known : known.slice(0, to);
  const ends = DOI_ADDRESS.test(first) ? DOI_END : HOLDS_DOI.test(first) ? DOI_HOLDER_END : END;
  const at = [first.search(ends), to].find((place) => place >= 0) ?? -1;
  const end = at < 0 ? at : withoutTrailing(address.slice(0, at)).length;
  return end <= 'https://'.length || UNUSUAL.test(address.slice(0, end)) ? address.length : end;
}

/** An address without the marks that follow it in a sentence; brackets in it stay. */
function withoutTrailing(address: string): string {
  const mark = TRAILING.exec(address)?.[0] ?? '';
  const isOpened = mark.endsWith(')') && address.split('(').length >= address.split(')').length;
  return mark === '' || isOpened ? address : withoutTrailing(address.slice(0, -mark.length));
}

const GOES_ON =
  /^(?:[!"'*,.:;?_~)\\]*(?:[^\0-~\s]|'s|[,;][a-z]|(?<!~)~(?!~)|[[^(}]|<su[bp]>)|["'][^\s<\]]*[\w>{])/i;

/** Whether another reader of Markdown would take what follows an address for its part. */
export function goesOn(address: string, next: string): boolean {
  return GOES_ON.test(next) && !UNUSUAL.test(address);
}

const UP_TO_MARK = '(?<![a-z])https?://[^\\s<>"`|]{1,200}/10\\.\\d{4,9}/[^\\s<>"`|]{1,200}';
const IN_BRACKETS =
  '<(?<!\\*<|[,;(][a-z]{1,9}<)\\d[^\\s<>"`|()]{1,100}(?:>[\\w.]{1,12}(?:;\\d(?:-[\\w#]?)?)?)?';
/** The address of a DOI that holds marks of its own, outside of the text of a link, which leads elsewhere. */
const MARKED_DOI = new RegExp(`${UP_TO_MARK}${IN_BRACKETS}(?![^\\s<"\`|\\]]{0,300}\\]\\()`, 'gi');

/** The text with other characters for marks in addresses of DOIs, which an address may only hold encoded. */
export function withDoiMarks(text: string, shownAs: (mark: string) => string): string {
  return text.replace(MARKED_DOI, (doi) => doi.replace(/[<>]|#$/g, shownAs));
}

/** The most characters that may be added at `index` to end an address there, or to encode a mark of it. */
export function addressEndCost(text: string, index: number): number {
  if (!/[^\0-~]|["',;~[^(<>#}]/.test(text.charAt(index)) || !/[!-~]/.test(text.charAt(index - 1))) return 0;
  const before = text.slice(Math.max(0, index - MAX_LENGTH), index);
  const at = before.lastIndexOf('://');
  return at < 0 || /\s/.test(before.slice(at)) ? 0 : '<>'.length;
}
