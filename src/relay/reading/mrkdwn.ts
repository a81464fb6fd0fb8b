import type { Block, Inline, Style } from './content.ts';
import { isoTime } from './rich-text.ts';

/** The content of a message's `text`, Slack's own markup with `&amp; &lt; &gt;` encoded. Never throws. */
export function readMrkdwn(text: string): Block[] {
  const blocks: Block[] = [];
  let from = 0;
  for (const fence of text.matchAll(/```([\s\S]+?)```/g)) {
    blocks.push(...readLines(text.slice(from, fence.index)));
    blocks.push({ kind: 'code', text: readCode(fence[1] ?? '').replace(/^\n|\n$/g, ''), language: '' });
    from = fence.index + fence[0].length;
  }
  return [...blocks, ...readLines(text.slice(from))];
}

/** `&lt;` to `<` and so on, once. */
export function decode(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));
}

/** Code keeps everything as typed, but Slack turns addresses in it into links. */
function readCode(code: string): string {
  return decode(
    code.replace(
      /<((?:https?|mailto|tel):[^<>|\s]*)(?:\|([^<>]*))?>/g,
      (_, url: string, label?: string) => label ?? url,
    ),
  );
}

/** `> words` quotes a line, `>>> words` all lines from there on; the sign comes encoded or not. */
function readLines(text: string): Block[] {
  const blocks: { kind: 'paragraph' | 'quote'; lines: string[] }[] = [];
  let quotesTheRest = false;
  for (const line of text.split('\n')) {
    const mark: string | undefined = quotesTheRest ? '' : /^(?:(?:&gt;|>){3}|(?:&gt;|>)) ?/.exec(line)?.[0];
    const kind = mark === undefined ? 'paragraph' : 'quote';
    const words = line.slice(mark?.length ?? 0);
    quotesTheRest ||= mark !== undefined && /^(?:&gt;|>){3}/.test(mark);
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(words);
    else blocks.push({ kind, lines: [words] });
  }
  return blocks
    .filter((block) => block.lines.some((line) => line.trim() !== ''))
    .map(({ kind, lines }) => ({
      kind,
      content: lines.flatMap((line, index) => readLine(index < lines.length - 1 ? `${line}\n` : line)),
    }));
}

/** One place of a line: a character of text, or a whole token that styles must not look into. */
type Place = string | Inline;

const marks = { '*': 'bold', _: 'italic', '~': 'strike' } as const;

function isMark(place: Place | undefined): place is keyof typeof marks {
  return place === '*' || place === '_' || place === '~';
}

function readLine(line: string): Inline[] {
  const bulleted = line.replace(/^(\s*)[•◦▪‣] +/, '$1- ');
  return styled(placesOf(bulleted), {});
}

function placesOf(line: string): Place[] {
  const places: Place[] = [];
  let from = 0;
  for (const token of line.matchAll(/`([^`\n]+)`|<([^<>\n]+)>/g)) {
    places.push(...decode(line.slice(from, token.index)).split(''));
    const [, code, inside] = token;
    places.push(code === undefined ? readToken(inside ?? '') : text(readCode(code), { code: true }));
    from = token.index + token[0].length;
  }
  places.push(...decode(line.slice(from)).split(''));
  return places;
}

function styled(places: readonly Place[], style: Style): Inline[] {
  const pieces: Inline[] = [];
  const open = new Set(['*', '_', '~']);
  let words = '';
  const flush = () => {
    if (words !== '') pieces.push(text(words, style));
    words = '';
  };
  for (let at = 0; at < places.length; at++) {
    const place = places[at];
    if (place === undefined) continue;
    if (isMark(place) && open.has(place) && !style[marks[place]] && opens(places, at)) {
      const end = closer(places, at, place);
      if (end !== undefined) {
        flush();
        pieces.push(...styled(places.slice(at + 1, end), { ...style, [marks[place]]: true }));
        at = end;
        continue;
      }
      // where none closes from here, none closes from further on
      open.delete(place);
    }
    if (typeof place === 'string') words += place;
    else {
      flush();
      pieces.push({ ...place, style: { ...style, ...place.style } });
    }
  }
  flush();
  return pieces;
}

const wordCharacter = /[\p{L}\p{N}]/u;
const touches = (place: Place | undefined) => typeof place === 'string' && wordCharacter.test(place);
const isSpace = (place: Place | undefined) =>
  place === undefined || (typeof place === 'string' && place.trim() === '');

/** A sign beside its own kind is none: `**` is not bold in Slack. */
function opens(places: readonly Place[], at: number): boolean {
  const before = places[at - 1];
  const after = places[at + 1];
  return !touches(before) && !isSpace(after) && before !== places[at] && after !== places[at];
}

function closer(places: readonly Place[], opener: number, mark: string): number | undefined {
  for (let at = opener + 2; at < places.length; at++) {
    const before = places[at - 1];
    const after = places[at + 1];
    if (places[at] === mark && !isSpace(before) && before !== mark && !touches(after) && after !== mark)
      return at;
  }
  return undefined;
}

function text(words: string, style: Style): Inline {
  return { kind: 'text', text: words, style };
}

/** What stands between `<` and `>`. */
function readToken(token: string): Inline {
  const bar = token.indexOf('|');
  const head = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? undefined : decode(token.slice(bar + 1)) || undefined;
  if (/^@[A-Z0-9]+$/i.test(head)) return { kind: 'person', id: head.slice(1), label, style: {} };
  if (/^#[A-Z0-9]+$/i.test(head)) return { kind: 'channel', id: head.slice(1), label, style: {} };
  if (head.startsWith('!subteam^')) return { kind: 'usergroup', id: head.slice(9), label, style: {} };
  if (head.startsWith('!date^')) {
    const seconds = Number(head.split('^')[1]);
    return text(label ?? (Number.isFinite(seconds) ? isoTime(seconds) : head), {});
  }
  if (head.startsWith('!')) return text(label ?? `@${head.slice(1)}`, {});
  if (/^[a-z][a-z0-9+.-]*:/i.test(head)) {
    const url = decode(head);
    return { kind: 'link', url, label: label ?? url, style: {} };
  }
  return text(`<${decode(token)}>`, {});
}
