import { type Child, h } from './dom.ts';
import { link } from './links.ts';
import { broadcastMention, channelMention, emojiPicture, personMention } from './mentions.ts';

const token =
  /<(?<entity>[^<>\n]+)>|```\n?(?<fence>[\s\S]+?)\n?```|`(?<code>[^`\n]+)`|(?<![\w*])\*(?<bold>[^*\n]+)\*(?![\w*])|(?<!\w)_(?<italic>[^_\n]+)_(?!\w)|(?<![\w~])~(?<strike>[^~\n]+)~(?![\w~])|:(?<emoji>[a-z0-9_+-]+(?:::[a-z0-9-]+)?):/g;

/** Unescapes Slack's three control characters. */
export function unescaped(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

/** Renders Slack's mrkdwn: styles, code, quotes, links, mentions, emoji. */
export function mrkdwn(text: string): Child[] {
  const parts: Child[] = [];
  // A code block may contain lines that look like quotes.
  for (const part of text.split(/(```[\s\S]+?```)/)) {
    if (part.startsWith('```')) parts.push(...inline(part));
    else parts.push(...quotesAndLines(part));
  }
  return parts;
}

function quotesAndLines(text: string): Child[] {
  const parts: Child[] = [];
  let quoted: string[] = [];
  let plain: string[] = [];
  const flush = () => {
    if (plain.length > 0) parts.push(...inline(plain.join('\n')));
    if (quoted.length > 0) parts.push(h('blockquote', {}, ...inline(quoted.join('\n'))));
    [plain, quoted] = [[], []];
  };
  for (const line of text.split('\n')) {
    const quote = /^(?:&gt;|>) ?(.*)$/.exec(line)?.[1];
    if ((quote === undefined) === quoted.length > 0) flush();
    if (quote === undefined) plain.push(line);
    else quoted.push(quote);
  }
  flush();
  return parts;
}

function inline(text: string): Child[] {
  const parts: Child[] = [];
  let last = 0;
  for (const match of text.matchAll(token)) {
    parts.push(unescaped(text.slice(last, match.index)));
    parts.push(marked(match[0], match.groups ?? {}));
    last = match.index + match[0].length;
  }
  parts.push(unescaped(text.slice(last)));
  return parts;
}

function marked(raw: string, found: Record<string, string | undefined>): Child {
  const { entity, fence, code, bold, italic, strike, emoji } = found;
  if (entity !== undefined) return entityOf(entity, raw);
  if (fence !== undefined) return h('pre', {}, h('code', {}, unescaped(fence)));
  if (code !== undefined) return h('code', {}, unescaped(code));
  if (bold !== undefined) return h('strong', {}, ...inline(bold));
  if (italic !== undefined) return h('em', {}, ...inline(italic));
  if (strike !== undefined) return h('s', {}, ...inline(strike));
  return emojiPicture(emoji ?? '');
}

function entityOf(entity: string, raw: string): Child {
  const [target = '', label = ''] = entity.split('|');
  if (/^@[UW]/.test(target)) return personMention(target.slice(1));
  if (target.startsWith('#')) return channelMention(target.slice(1), label);
  if (target.startsWith('!subteam^')) return broadcastMention(label.replace(/^@/, '') || 'a group');
  if (target.startsWith('!date^')) return unescaped(label);
  if (target.startsWith('!')) return broadcastMention(target.slice(1));
  if (/^(?:https?:|mailto:)/.test(target))
    return link(unescaped(target), unescaped(label || target.replace(/^mailto:/, '')));
  return unescaped(raw);
}
