import { shorten } from './graphemes.ts';

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
