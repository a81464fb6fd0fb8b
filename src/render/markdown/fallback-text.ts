import { graphemeStart, utf8Length } from '../text/shorten.ts';
import { escapeMrkdwn } from './pings.ts';

/** UTF-8 bytes: chat.update refuses more than 4,000 (https://docs.slack.dev/reference/methods/chat.update), with a plan's line. */
const MAX_TEXT_BYTES = 3_000;

/** Markdown as plain text for notifications and screen readers: escaped, without pings, of at most 3,000 UTF-8 bytes. */
export function fallbackText(markdown: string): string {
  const readable = markdown
    .slice(0, MAX_TEXT_BYTES * 2)
    .replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]*\n?/gm, '')
    .replace(/^(\s*)#{1,6} +/gm, '$1')
    .replace(/!?\[([^[\]]*)\]\((\S{0,1000}?)(?: +"[^"]*")?\)/g, '$1')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/^\|?[ \t:|-]+\|[ \t:|-]*$\n?/gm, '')
    .trim();
  return truncateBytes(readable === '' ? '…' : readable, MAX_TEXT_BYTES);
}

/** Escaped text of at most `most` UTF-8 bytes, without splitting a grapheme. */
export function truncateBytes(text: string, most: number): string {
  let shown = escapeMrkdwn(text);
  for (let at = most; utf8Length(shown) > most; at = Math.floor(at * 0.95))
    shown = `${escapeMrkdwn(text.slice(0, graphemeStart(text, at))).trimEnd()}…`;
  return shown;
}
