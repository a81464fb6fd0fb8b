import { graphemeStart } from '../text-format.ts';
import { isDisguisedLink, labelStarts, USER_PART } from './unsafe-links.ts';

/**
 * Untrusted text must never notify anyone. Slack reads `<!channel>`, `<!here>`, `<!everyone>`, `<!subteam^..>`,
 * `<@U..>` and `<#C..>` as mentions, and bare `@channel`, `@here`, `@everyone` where names are linked. It also reads
 * `<https://one.example|two.example>` as a link whose text hides its target, as `[https://two.example](https://one.example)`
 * does, and links `https://two.example@one.example`, whose user people may read as its host.
 * A WORD JOINER (U+2060, no width, no line break) goes after the `<`, the `@`, the `]` or the first letter of such an address.
 * Word joiners that are already there are part of the pattern, so `neutralizePings` adds exactly one and `restorePings` removes exactly one.
 */
export const WORD_JOINER = '\u2060';
const OPEN = '(?:<|&lt;?|&#0*60;|&#x0*3c;)';
const MARK =
  '(?:\\\\*(?:!(?!--|doctype|\\[)|@|#[a-z0-9&\\\\])|&(?:excl|commat|num);|&#0*(?:33|35|64);|&#x0*(?:21|23|40);)';
const DISGUISED = '(?:https?:|mailto:)[^\\s<>|]{1,2000}\\|';
const URL = 'https?://[^\\s<>()\\[\\]|"\'`*\\\\]+';
const WITH_USER = `h(?=\\u2060*ttps?://${USER_PART})`;
const WWW = '(?<![\\p{L}\\p{N}.-])w(?=\\u2060*ww\\.)';
/** To be found once for all the hosts that are chained in it. */
const RUN = new RegExp(`(?=([^\\s</?#]*))(?:${USER_PART})?`, 'iy');
const BARE = '(?<![\\p{L}\\p{N}_])@(?=\\u2060*\\\\?(?:channel|here|everyone|group)(?![\\p{L}\\p{N}]))';
/** The destination of a link, which counts up to a space where its brackets are nested: what matters is its host. */
const DESTINATION = '<([^<>\\n]+)>[\\s)]|((?:[^\\s()<>]|\\([^\\s()]*\\))+(?=[\\s)])|\\S{1,300})';
const LINK = `(?<=\\])(?=\\u2060*\\(\\s*(?:${DESTINATION}))`;
const PING_PATTERN = new RegExp(
  `(?!${WITH_USER})(${URL})|(?:${WITH_USER}|${WWW}|${OPEN}(?=\\u2060*(?:${MARK}|${DISGUISED}))|${BARE}|${LINK})\\u2060*`,
  'giu',
);

/** The text with a word joiner in everything that Slack could read as a mention or as a disguised link. */
export function neutralizePings(text: string): string {
  return replacePings(text, (ping) => ping + WORD_JOINER);
}

/** The inverse of `neutralizePings`. */
export function restorePings(text: string): string {
  return replacePings(text, (ping) => (ping.endsWith(WORD_JOINER) ? ping.slice(0, -1) : ping));
}

function replacePings(text: string, change: (ping: string) => string): string {
  const hasUser = userFinder(text);
  let labels: Map<number, number> | undefined;
  return text.replace(PING_PATTERN, (all: string, url?: string, angled?: string, plain?: string, at = 0) => {
    if (/^w/i.test(all)) return hasUser(at) ? change(all) : all;
    const target = angled ?? plain;
    if (target === undefined) return url ?? change(all);
    labels ??= labelStarts(text);
    return isDisguisedLink(text.slice(labels.get(at) ?? at, Math.max(0, at - 1)), target) ? change(all) : all;
  });
}

/** Whether the address that begins with `www.` at a place has a user; asked from the beginning to the end of the text. */
function userFinder(text: string): (at: number) => boolean {
  let [runTo, userTo] = [0, 0];
  return (at) => {
    if (at >= runTo) {
      RUN.lastIndex = at;
      const [user = '', run = ''] = RUN.exec(text) ?? [];
      [runTo, userTo] = [at + run.length, at + user.length];
    }
    return at < userTo;
  };
}

/** Safe for a mrkdwn text: `&`, `<` and `>` escaped as Slack asks, and no bare mention. */
export function escapeMrkdwn(text: string): string {
  return neutralizePings(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** How many characters `neutralizePings` may add at `index`, by this character and the one before it; never too low. */
export function pingCost(text: string, index: number): number {
  const before = text.charAt(index - 1);
  if (before === ']') return /[(\u2060]/.test(text.charAt(index)) ? 1 : 0;
  if (before === '@') return /[cehg\\\u2060]/i.test(text.charAt(index)) ? 1 : 0;
  if (/h/i.test(before) && /[t\u2060]/i.test(text.charAt(index))) return 1;
  if (/w/i.test(before)) return /[w\u2060]/i.test(text.charAt(index)) ? 1 : 0;
  if (/[<;]/.test(before) && /[hm]/i.test(text.charAt(index))) return 1;
  return /[<;t]/i.test(before) && /[!@#&\\\u2060]/.test(text.charAt(index)) ? 1 : 0;
}

/** Escaped text of at most `most` UTF-8 bytes, without splitting a grapheme, or a word that is not very long. */
export function truncateBytes(text: string, most: number): string {
  let shown = escapeMrkdwn(text.slice(0, most + 1));
  for (let at = most; Buffer.byteLength(shown) > most; at = Math.floor(at * 0.95)) {
    const start = text.slice(0, graphemeStart(text, at));
    // A word of up to 200 characters goes whole: who reads this beside blocks takes half of one for another word.
    const end = start.slice(-200).replace(/(?<=[^\p{L}\p{N}])[\p{L}\p{N}]+$/u, '');
    shown = `${escapeMrkdwn(start.slice(0, -200) + end).trimEnd()}…`;
  }
  return shown;
}
