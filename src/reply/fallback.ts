import { graphemes, utf8Length } from './graphemes.ts';
import { escapeMrkdwn } from './pings.ts';

/** chat.update refuses a `text` of more than 4,000 (https://docs.slack.dev/reference/methods/chat.update). */
const BYTES_MOST = 3_900;

/** Markdown as plain reading for notifications and screen readers: escaped, without pings, under 4,000 UTF-8 bytes. */
export function fallbackText(markdown: string): string {
  const readable = markdown
    .slice(0, BYTES_MOST * 2)
    .replace(/^[ \t]*(?:`{3,}|~{3,})[^\n]*\n?/gm, '')
    .replace(/^(\s*)#{1,6} +/gm, '$1')
    .replace(/!?\[([^[\]]*)\]\((\S*?)(?: +"[^"]*")?\)/g, '$1')
    .replace(/\*\*|__|~~|`/g, '')
    .replace(/^\|?[ \t:|-]+\|[ \t:|-]*$\n?/gm, '')
    .trim();
  return cutBytes(readable === '' ? '…' : readable, BYTES_MOST);
}

/** Escaped text of at most `most` UTF-8 bytes, cut on a grapheme. */
export function cutBytes(text: string, most: number): string {
  const whole = escapeMrkdwn(text);
  if (utf8Length(whole) <= most) return whole;
  let kept = '';
  let bytes = 3;
  for (const grapheme of graphemes(text)) {
    // Two bytes more than its own for a word joiner that this one may call for.
    bytes += utf8Length(escapeMrkdwn(grapheme)) + (/[@!#]/.test(grapheme) ? 3 : 0);
    if (/^[<@;]/.test(grapheme)) bytes += 3;
    if (bytes > most) break;
    kept += grapheme;
  }
  return `${escapeMrkdwn(kept).trimEnd()}…`;
}
