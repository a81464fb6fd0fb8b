import type { Block, Fields } from './model.ts';

/** A person's message as Slack's client sends it. */
export interface Composed {
  /** Slack's mrkdwn, with entities. */
  text: string;
  blocks: Block[];
}

/** Looks up ids of people and channels by name. */
export interface Names {
  person(name: string): string | undefined;
  /** Displayed names of several words, which `person` finds too. */
  severalWords?: readonly string[];
  channel(name: string): string | undefined;
}

const INLINE =
  /<@(?<user>[UW][A-Z0-9]+)>|<#(?<channel>[CG][A-Z0-9]+)(?:\|[^>]*)?>|<!(?<range>here|channel|everyone)>|<!subteam\^(?<group>S[A-Z0-9]+)[^>]*>|<(?<link>https?:[^|>\s]+)(?:\|(?<label>[^>]*))?>|(?<url>https?:\/\/[^\s<>]+)|@(?<person>[\w.-]*\w)|#(?<room>[\w-]+)|:(?<emoji>[a-z0-9_+-]+):|`(?<code>[^`\n]+)`|(?<![\w*])\*(?<bold>[^*\n]+)\*(?![\w*])|(?<![\w_])_(?<italic>[^_\n]+)_(?![\w_])|(?<![\w~])~(?<strike>[^~\n]+)~(?![\w~])/g;

/** Converts what a person types into text and a rich_text block, as Slack's client does. */
export function compose(typed: string, names: Names, blockId: string): Composed {
  const parts = paragraphs(typed, names);
  return {
    text: parts.map((part) => part.text).join('\n'),
    blocks: [{ type: 'rich_text', block_id: blockId, elements: parts.flatMap((part) => part.element) }],
  };
}

interface Part {
  text: string;
  element: Fields;
}

function paragraphs(typed: string, names: Names): Part[] {
  const parts: Part[] = [];
  const lines = typed.split('\n');
  let at = 0;
  const takeWhile = (test: (line: string) => boolean): string[] => {
    const from = at;
    while (at < lines.length && test(lines[at] ?? '')) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at] ?? '';
    if (line.startsWith('```')) {
      parts.push(preformatted(takeFence(lines, at)));
      at += takeFence(lines, at).length;
    } else if (isBullet(line)) parts.push(list(takeWhile(isBullet), 'bullet', names));
    else if (isOrdered(line)) parts.push(list(takeWhile(isOrdered), 'ordered', names));
    else if (isQuote(line)) parts.push(quote(takeWhile(isQuote), names));
    else {
      const isPlain = (one: string) =>
        !one.startsWith('```') && !isBullet(one) && !isOrdered(one) && !isQuote(one);
      parts.push(section(takeWhile(isPlain).join('\n'), names));
    }
  }
  return parts;
}

const isBullet = (line: string): boolean => /^[-•*] /.test(line);
const isOrdered = (line: string): boolean => /^\d+\. /.test(line);
const isQuote = (line: string): boolean => line.startsWith('>');

/** The lines of a code block, including its closing fence. */
function takeFence(lines: string[], from: number): string[] {
  const first = lines[from] ?? '';
  if (first.length > 3 && first.endsWith('```')) return [first];
  const end = lines.findIndex((line, at) => at > from && line.endsWith('```'));
  return lines.slice(from, end === -1 ? lines.length : end + 1);
}

function preformatted(lines: string[]): Part {
  const code = lines
    .join('\n')
    .replace(/^```\n?/, '')
    .replace(/\n?```$/, '');
  return {
    text: `\`\`\`${escapeText(code)}\`\`\``,
    element: { type: 'rich_text_preformatted', elements: [{ type: 'text', text: code }], border: 0 },
  };
}

function list(lines: string[], style: 'bullet' | 'ordered', names: Names): Part {
  const items = lines.map((line) => inline(line.replace(/^([-•*]|\d+\.) /, ''), names));
  return {
    text: items.map((item, at) => `${style === 'bullet' ? '•' : `${at + 1}.`} ${item.text}`).join('\n'),
    element: {
      type: 'rich_text_list',
      style,
      indent: 0,
      border: 0,
      elements: items.map((item) => ({ type: 'rich_text_section', elements: item.elements })),
    },
  };
}

function quote(lines: string[], names: Names): Part {
  const { text, elements } = inline(lines.map((line) => line.replace(/^> ?/, '')).join('\n'), names);
  return {
    text: text
      .split('\n')
      .map((line) => `&gt; ${line}`)
      .join('\n'),
    element: { type: 'rich_text_quote', elements },
  };
}

function section(typed: string, names: Names): Part {
  const { text, elements } = inline(typed, names);
  return { text, element: { type: 'rich_text_section', elements } };
}

function inline(typed: string, names: Names): { text: string; elements: Fields[] } {
  let text = '';
  const elements: Fields[] = [];
  let plain = '';
  const flush = () => {
    if (plain !== '') elements.push({ type: 'text', text: plain });
    text += escapeText(plain);
    plain = '';
  };
  let last = 0;
  for (const match of typed.matchAll(inlinePattern(names))) {
    const made = token(match[0], match.groups ?? {}, names);
    plain += typed.slice(last, match.index);
    last = match.index + match[0].length;
    if (made === undefined) {
      plain += match[0];
      continue;
    }
    flush();
    text += made.text;
    elements.push(made.element);
  }
  plain += typed.slice(last);
  flush();
  return { text, elements };
}

/** With the displayed names of several words, longest first; upper and lower case are the same. */
function inlinePattern({ severalWords = [] }: Names): RegExp {
  if (severalWords.length === 0) return INLINE;
  const longestFirst = severalWords.toSorted((one, other) => other.length - one.length);
  const known = longestFirst.map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
  return new RegExp(
    INLINE.source.replace('(?<person>', () => `(?<person>(?i:${known})(?!\\w)|`),
    'g',
  );
}

function token(typed: string, found: Record<string, string | undefined>, names: Names): Part | undefined {
  const user = found.user ?? (found.person === undefined ? undefined : names.person(found.person));
  if (user !== undefined) return { text: `<@${user}>`, element: { type: 'user', user_id: user } };
  const channel = found.channel ?? (found.room === undefined ? undefined : names.channel(found.room));
  if (channel !== undefined)
    return { text: `<#${channel}>`, element: { type: 'channel', channel_id: channel } };
  const range = found.range ?? broadcastRange(found.person);
  if (range !== undefined) return { text: `<!${range}>`, element: { type: 'broadcast', range } };
  if (found.group !== undefined) {
    return { text: `<!subteam^${found.group}>`, element: { type: 'usergroup', usergroup_id: found.group } };
  }
  const url = found.link ?? found.url;
  if (url !== undefined) {
    const label = found.label;
    const shown = escapeText(url);
    return label === undefined
      ? { text: `<${shown}>`, element: { type: 'link', url } }
      : { text: `<${shown}|${escapeText(label)}>`, element: { type: 'link', url, text: label } };
  }
  if (found.emoji !== undefined) return { text: typed, element: { type: 'emoji', name: found.emoji } };
  return styled(found);
}

function styled(found: Record<string, string | undefined>): Part | undefined {
  const marks: [string, string][] = [
    ['code', '`'],
    ['bold', '*'],
    ['italic', '_'],
    ['strike', '~'],
  ];
  for (const [style, mark] of marks) {
    const inner = found[style];
    if (inner === undefined) continue;
    return {
      text: `${mark}${escapeText(inner)}${mark}`,
      element: { type: 'text', text: inner, style: { [style]: true } },
    };
  }
  return undefined;
}

function broadcastRange(name: string | undefined): string | undefined {
  return name === 'here' || name === 'channel' || name === 'everyone' ? name : undefined;
}

/** Escapes Slack's three control characters. */
export function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
