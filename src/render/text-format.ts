import { decodeString } from 'micromark-util-decode-string';

const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/**
 * The last offset at or before `at` that does not split a grapheme. Within a grapheme of more than 2,000 characters it
 * is `at` itself, moved between code points.
 */
export function graphemeStart(text: string, at: number): number {
  if (at <= 0 || at >= text.length) return Math.min(Math.max(at, 0), text.length);
  const from = Math.max(0, at - 2_000);
  const start = SEGMENTER.segment(text.slice(from, at + 64)).containing(at - from)?.index ?? 0;
  if (start > 0 || from === 0) return from + start;
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

/** Untrusted text as one line, without control characters, direction marks and lone surrogates. */
export function toOneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .replace(/[\u200E\u200F\u202A-\u202E\u2066-\u2069\uFFF9-\uFFFB]/g, '')
    .replace(/\p{Cs}/gu, '\uFFFD')
    .trim();
}

/** Untrusted text as one line, with one blank between its words. */
export function toSpacedLine(text: string): string {
  return toOneLine(text).replace(/\s+/g, ' ');
}

/** An untrusted name in quotes, as one line; one of more than `most` characters is shortened in its middle. */
export function quotedName(name: string, most: number): string {
  return `“${shortenMiddle(toOneLine(name), most)}”`;
}

/** The text with its first letter in upper case. */
export function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A page of a heading and a paragraph; both are trusted HTML. */
export function htmlPage(title: string, paragraph: string): string {
  return `<!doctype html>\n<html lang="en"><title>${title}</title>\n<h1>${title}</h1>\n<p>${paragraph}</p>\n`;
}

/** Safe in HTML, also in an attribute in double quotes. */
export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** A text without the references that `escapeHtml` makes. */
export function unescapeHtml(html: string): string {
  return html.replace(/&(?:amp|lt|gt|quot);/g, (one) => decodeString(one));
}

/** A duration in ms for people: "under a second", "45 s", "6 min", "1 h 5 min". */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(Math.max(ms, 0) / 1_000);
  if (seconds < 1) return 'under a second';
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  if (days > 0) return withRest(`${days} d`, hours % 24, 'h');
  return withRest(`${hours} h`, minutes % 60, 'min');
}

/** How long ago something happened (ms): "just now", "6 min ago". */
export function formatAge(ms: number): string {
  return ms < 60_000 ? 'just now' : `${formatDuration(ms)} ago`;
}

/** The running time of the first 5 s. */
export const JUST_STARTED = 'just started';

/** A running time in ms; within the first minute in steps of 5 s, so that fewer edits differ. */
export function formatRunningTime(ms: number): string {
  const seconds = Math.max(ms, 0) / 1_000;
  if (seconds < 5) return JUST_STARTED;
  return seconds < 60 ? `${Math.floor(seconds / 5) * 5} s` : formatDuration(ms);
}

function withRest(head: string, rest: number, unit: string): string {
  return rest === 0 ? head : `${head} ${rest} ${unit}`;
}

const UNITS = ['KB', 'MB', 'GB', 'TB'] as const;

/** A size in bytes for people: "0 bytes", "812 bytes", "2.4 MB" (1 KB is 1,000 bytes). */
export function formatSize(bytes: number | null): string {
  if (bytes === null || !Number.isFinite(bytes) || bytes < 0) return 'unknown size';
  if (bytes < 1_000) return bytes === 1 ? '1 byte' : `${Math.floor(bytes)} bytes`;
  let value = bytes;
  let unit: string = UNITS[0];
  for (const name of UNITS) {
    value /= 1_000;
    unit = name;
    if (value < 999.5) break;
  }
  return `${value < 9.95 ? value.toFixed(1).replace(/\.0$/, '') : Math.round(value)} ${unit}`;
}

/** A number of things: "1 file", "2 files". */
export function counted(count: number, noun: string): string {
  return `${count} ${count === 1 ? noun : `${noun}s`}`;
}
