import { decodedPath } from './figures.ts';

/** A word, or part of one, that people may read as a host, such as `one.org` and `192.0.2.1`. */
const NAME = /[\p{L}\p{N}]\.\p{L}{2}|^\d{1,3}(?:\.\d{1,3}){3}$|^localhost$/u;
/** A changed amino acid (HGVS), which no host is called: the last part of its name has no digits. */
const VARIANT = /^p\.(?:[a-z]{3}\d{1,5}){1,2}(?:[a-z]{2,12}\d{0,5})?$/;
/** Endings of files that are rarely those of hosts. */
const FILE =
  /\.(?:csv|docx?|gif|gz|html?|ipynb|jpe?g|js|json|md|pdf|png|pptx?|py|rs?|sh|sql|svg|tsv?|txt|xlsx?|xml|ya?ml|zip)$/;
/** The last part of a host, an address of numbers, or a name without dots. */
const HOST_END = /(?:^|\.)(?:xn--[\w-]+|\p{L}{2,}|\d+)$/u;
/** A destination whose host is written as browsers read it. */
const PLAIN_DESTINATION = /^\]\(\s{0,9}<?(https?:\/\/([a-z\d.-]{1,253})(?::\d+)?(?:[/?#][^\s<>]*)?)[)>\s]/i;
/** Any destination, with brackets and a title. */
const DESTINATION = /^\]\(\s*(?:<([^>\n]*)>|(\S*?)(?:\s[\s\S]*)?\)$)/;
/** Characters of a destination to the end of its host, which has at most 253 (RFC 1035). */
const MAX_HOST_END = 280;
/** Longest label that is read again for each answer that grows; a longer one counts as one that needs a note. */
const MAX_READ_LABEL = 1_000;
/** A longer label counts as a disguise: many may stand in each other, and each is read. */
const MAX_LABEL = 2_000;
/** What people do not see in a label: marks of Markdown, and the WORD JOINER that the renderer adds. */
const UNSEEN = /[\u2060*_~`\\<>[\]]/g;
/**
 * All that a label may hold, once composed: ASCII, and the letters and marks of other scripts that look like no dot and no
 * slash, and that everybody sees.
 */
const LABEL =
  /^(?:[ -~\t\n\r\u00a0¡£§©«®±²³µ¹»¿À-öø-ɏΆΈ-ώЀ-џ‐-―‘’“”†‡…′″⁰⁴-⁹⁺⁻₀-₉€™←→↔−≈≤≥々「」『』《》【】（）：！？ー가-힣ぁ-ゖァ-ヺ]|(?!丶)[一-鿿]|°(?=[CFK]?(?!\.?[\p{L}\p{N}])))*$/u;
/** A character reference that may stand for what a label may not hold. */
const REFERENCE = /&(?!(?:amp|lt|gt|quot);)#?\w+;/;
/** What looks like the dot before the end of a host. */
const DOT = /(?<=[\p{L}\p{N}])(?:,|\s+\.)(?=\p{L}{2})/gu;
/** A target with another scheme than a link may have, or none and a host; the scheme may be written as references. */
const OTHER_SCHEME = /^(?!https?:|mailto:)(?:[a-z][a-z\d+.-]*:(?!:)|[\\/]{2}|[^/?#]*&#?\w+;)/i;

const USER_END = '(?:@|&(?:#0*64|#x0*40|commat);)';
/** What precedes the host of an address with a user: people may read it as the host. */
export const USER_PART = `[^\\s</?#]*${USER_END}`;
const WWW = '(?<![\\w.-])www\\.';
/** Of chained hosts the last one, so that no text is read for each of them. */
const USER = new RegExp(`(?:(?:^|[\\s(]|[a-z]:)//|${WWW})(?:(?!${WWW})[^\\s</?#])*${USER_END}`, 'i');

/** Whether a link may lead there: to a web address, or to one of e-mail. */
export function isLinkTarget(target: string): boolean {
  return /^(?:https?|mailto):$/.test(openedBy(target)?.protocol ?? '');
}

function isSeen(label: string): boolean {
  const composed = label.replace(UNSEEN, '').replace(/\p{L}\p{M}+/gu, (letter) => letter.normalize('NFC'));
  return LABEL.test(composed) && !REFERENCE.test(label);
}

/**
 * Whether a link is to be shown as text: `target` is no address that a link may have, or the label names another or is very
 * long. A label may name only the host of its target, the beginning of its address with an ellipsis, or the file at its end.
 */
export function isDisguisedLink(label: string, target: string): boolean {
  return label.length > MAX_LABEL || isDisguise(label, target);
}

/** Like `isDisguisedLink`, of a link in brackets as the parser read it. `destination` is the rest of it from the `]` on. */
export function hasDisguise(label: string, destination: string): boolean {
  const [, angled, plain] = DESTINATION.exec(destination) ?? [];
  const target = angled ?? plain;
  return target !== undefined && isDisguise(label, target);
}

function isDisguise(label: string, target: string): boolean {
  const opened = openedBy(target);
  if (OTHER_SCHEME.test(target) || (isLinkTarget(target) && !isSeen(label))) return true;
  // Its address would stand there, and where that is text it is none.
  if (USER.test(`${target} ${label}`.replace(UNSEEN, ''))) return true;
  return addressesIn(beforeOwnDoi(label, opened)).some(
    ({ names, path }) => names.some((name) => !leadsTo(name, opened)) || isOtherPath(path, opened),
  );
}

/**
 * The host of a link in brackets, to be added to its label, if that hides or imitates one; otherwise ''. `destination` is the
 * rest of the link from the `]` on.
 */
export function hostNote(label: string, destination: string): string {
  const [, target = '', host = ''] = PLAIN_DESTINATION.exec(destination) ?? [];
  const opened = openedBy(target);
  if (opened === null || opened.hostname !== host.toLowerCase()) return '';
  return labelNote(label, target);
}

/** The most characters of a `hostNote`, charged at the `index` where the host in a destination ends. */
export function hostNoteCost(text: string, index: number): number {
  if (!/[:/?#)>\s]/.test(text.charAt(index))) return 0;
  const before = text.slice(Math.max(0, index - MAX_HOST_END), index);
  const at = before.lastIndexOf('](');
  const host = /^\]\(\s*<?https?:\/\/([a-z\d.-]+)$/i.exec(before.slice(at))?.[1];
  if (host === undefined) return 0;
  const end = index - before.length + at + 1;
  const read = text.slice(Math.max(0, end - MAX_READ_LABEL), end);
  const start = labelStarts(read).get(read.length);
  const label = start === undefined ? undefined : read.slice(start, -1);
  const isPlain =
    label !== undefined && !/[\\`$<]/.test(label) && isSeen(label) && addressesIn(label).length === 0;
  return isPlain ? 0 : host.length + ' ()'.length;
}

function openedBy(target: string): URL | null {
  return URL.parse(target.replace(UNSEEN, ''));
}

/** Whether a name in a label is that of the host, or of the file, that the link opens. */
function leadsTo(name: string, opened: URL | null): boolean {
  if (opened === null) return false;
  const host = hostOf(opened);
  // Letters of other scripts may imitate a host, also where that is the link's own.
  const named = /[^ -~]/.test(name) ? undefined : URL.parse(`https://${name}`)?.hostname;
  if (named?.replace(/^www\./, '') === host.replace(/^www\./, '')) return true;
  return FILE.test(name) && opened.pathname.toLowerCase().endsWith(name);
}

/** The beginning of an address that leads to a DOI. */
export const DOI_ADDRESS = /^https?:\/\/(?:dx\.|www\.)?doi\.org\//i;

/** A label without the DOI at its end, or the address, that its link leads to: `3.0.CO;2-A` and `jane.doe` look like hosts. */
function beforeOwnDoi(label: string, opened: URL | null): string {
  const shown = label.replace(UNSEEN, '');
  const address = decodedPath(opened?.href ?? '').replace(UNSEEN, '');
  const doi = address.replace(DOI_ADDRESS, '');
  // Of an address of e-mail, all before a second `@` may look like another host.
  const isMail = /^[\w.+-]+@[\w.-]+$/.test(shown) && `mailto:${label}` === opened?.href;
  const isOwn = isMail || (shown === address && !/\s/.test(shown));
  if (doi === address || !/^10\.\d/.test(doi)) return isOwn ? '' : label;
  return shown.endsWith(doi) ? shown.slice(0, -doi.length) : label;
}

/** The host that a link leads to; of an address of e-mail, what follows the first `@`. */
function hostOf({ protocol, pathname, hostname }: URL): string {
  return protocol === 'mailto:' ? pathname.replace(/^[^@]*@/, '') : hostname;
}

/** What follows a label that holds what is not surely seen, or names another host: the host that its link leads to; else ''. */
export function labelNote(label: string, target: string): string {
  const opened = openedBy(target);
  if (opened === null) return '';
  const isMisleading =
    !isSeen(label) ||
    USER.test(label.replace(UNSEEN, '')) ||
    addressesIn(beforeOwnDoi(label, opened)).some(({ names }) =>
      names.some((name) => !leadsTo(name, opened)),
    );
  return isMisleading ? ` (${hostOf(opened)})` : '';
}

/** Whether a text names a host, for where a link with this label leads; the name of a file, or of a variant, is none. */
export function namesHost(text: string): boolean {
  return addressesIn(text).some(({ names }) => names.some((name) => HOST_END.test(name) && !FILE.test(name)));
}

/** The names in each word of a label, and what follows them if the word is an address. */
function addressesIn(label: string): { names: string[]; path: string }[] {
  const words = label.replace(UNSEEN, '').replace(DOT, '.').split(/\s+/);
  // A mark that Slack shows sets apart the name behind it.
  const shown = label.replace(/[\u2060\\]/g, '').split(/\s+/);
  const apart = shown.flatMap(addressIn).map(({ names }) => ({ names, path: '' }));
  return [...words.flatMap(readAddress), ...apart];
}

function readAddress(word: string): { names: string[]; path: string }[] {
  // Whatever follows the slashes is read as a host: also a number, or a name without a dot.
  const [, before, host = ''] = /^(.*?\/\/)([^/?#]+)/.exec(word) ?? [];
  if (before !== undefined && namesIn(host.toLowerCase()).length === 0)
    return [{ names: [host.toLowerCase()], path: word.slice(before.length + host.length) }];
  return addressIn(word);
}

/** The names in the first part of a word that has any. */
function addressIn(word: string): { names: string[]; path: string }[] {
  for (const { 0: piece, index } of word.matchAll(/[^/?#]+/g)) {
    const names = namesIn(piece.toLowerCase());
    if (names.length > 0) return [{ names, path: word.slice(index + piece.length) }];
  }
  return [];
}

function namesIn(piece: string): string[] {
  const parts = piece.split(/[^\p{L}\p{N}.-]+|\.{2,}/u).map((part) => part.replace(/^[.-]|[.-]$/g, ''));
  return parts.filter((part) => NAME.test(part) && !VARIANT.test(part));
}

function isOtherPath(path: string, opened: URL | null): boolean {
  const [, start = '', end = ''] = /^(.*?)(…|\.{3}|[.,;:!?)])?$/.exec(path) ?? [];
  const shown = pathOf(URL.parse(`https://host.example${start}`));
  if (shown === '') return false;
  const whole = pathOf(opened);
  // What is cut after a comma, or a letter behind it, has no dot in its place.
  if (/…|\.{3}/.test(end)) return !whole.startsWith(shown.replace(/,\p{L}?$/u, ''));
  return whole !== shown && whole !== shown + end;
}

function pathOf(url: URL | null): string {
  return url === null
    ? ''
    : decodedPath(url.pathname + url.search + url.hash)
        .replace(UNSEEN, '')
        .replace(DOT, '.')
        .replace(/\/$/, '');
}

/** Where a text in brackets begins, by the place after the bracket that closes it. */
export function labelStarts(text: string): Map<number, number> {
  const starts = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: mark, index } of text.matchAll(/\\?[[\]]/g)) {
    if (mark === '[') open.push(index + 1);
    if (!mark.endsWith(']')) continue;
    // The backslash may be escaped itself.
    const start = mark === ']' ? open.pop() : open.at(-1);
    if (start !== undefined) starts.set(index + mark.length, start);
  }
  return starts;
}
