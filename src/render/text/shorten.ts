const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** UTF-8 bytes of a text. */
export function utf8Length(text: string): number {
  return Buffer.byteLength(text);
}

/**
 * The last offset at or before `at` that does not split a grapheme. Within a grapheme of more than 2,000 characters it
 * is `at` itself, moved between code points.
 */
export function graphemeStart(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
  let anchor = at - 1;
  const floor = Math.max(0, at - 2_000);
  while (anchor > floor && !isAscii(text.charCodeAt(anchor))) anchor -= 1;
  let last = anchor;
  for (const { index, segment } of SEGMENTER.segment(text.slice(anchor, at + 64))) {
    if (anchor + index > at) break;
    last = anchor + index;
    if (last + segment.length > at) break;
  }
  if (last > floor || floor === 0) return last;
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

/** The text shortened to at most `most` characters without splitting a grapheme; "…" replaces what is missing. */
export function shorten(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, graphemeStart(text, Math.max(most - 1, 0))).trimEnd()}…`;
}

/** The text shortened in its middle to at most `most` characters, so that a file name keeps its extension. */
export function shortenMiddle(text: string, most: number): string {
  if (text.length <= most) return text;
  const tail = Math.floor(most / 3);
  const end = graphemeStart(text, text.length - tail);
  return `${text.slice(0, graphemeStart(text, most - 1 - (text.length - end)))}…${text.slice(end)}`;
}

function isAscii(code: number): boolean {
  return code >= 0x20 && code < 0x7f;
}

/** Untrusted text as one line, without control characters, direction marks and lone surrogates. */
export function toOneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/[\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB]/g, '')
    .replace(/\p{Cs}/gu, '\uFFFD')
    .trim();
}

/** An untrusted name in quotes, as one line of at most `most` characters. */
export function quotedName(name: string, most: number): string {
  return `“${shorten(toOneLine(name), most)}”`;
}

/** The text with its first letter in upper case. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
