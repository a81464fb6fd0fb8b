import { type ParsedBlock, type ParsedInline, textPiece } from './parsed-blocks.ts';
import { isoTime } from './rich-text-parser.ts';

/** Parses a message's `text`: Slack's mrkdwn, with `&amp; &lt; &gt;` encoded. Never throws. */
export function parseMrkdwn(text: string): ParsedBlock[] {
  const blocks: ParsedBlock[] = [];
  let from = 0;
  for (const fence of text.matchAll(/```([\s\S]+?)```/g)) {
    blocks.push(...parseLines(text.slice(from, fence.index)));
    blocks.push({ kind: 'code', text: decodeCode(fence[1] ?? '').replace(/^\n|\n$/g, ''), language: '' });
    from = fence.index + fence[0].length;
  }
  return [...blocks, ...parseLines(text.slice(from))];
}

/** Decodes `&amp;`, `&lt;` and `&gt;`, once. */
export function decodeEntities(text: string): string {
  return text.replace(/&(amp|lt|gt);/g, (_, name) => (name === 'amp' ? '&' : name === 'lt' ? '<' : '>'));
}

/** Undoes the links that Slack makes of addresses in code. */
function decodeCode(code: string): string {
  return decodeEntities(
    code.replace(
      /<((?:https?|mailto|tel):[^<>|\s]*)(?:\|([^<>]*))?>/g,
      (_, url: string, label?: string) => label ?? url,
    ),
  );
}

/** `> text` quotes a line, `>>> text` this line and all that follow. The `>` may be encoded. */
function parseLines(text: string): ParsedBlock[] {
  const blocks: { kind: 'paragraph' | 'quote'; lines: string[] }[] = [];
  let quotesTheRest = false;
  for (const line of text.split('\n')) {
    const quotePrefix: string | undefined = quotesTheRest
      ? ''
      : /^(?:(?:&gt;|>){3}|(?:&gt;|>)) ?/.exec(line)?.[0];
    const kind = quotePrefix === undefined ? 'paragraph' : 'quote';
    const lineText = line.slice(quotePrefix?.length ?? 0);
    quotesTheRest ||= quotePrefix !== undefined && /^(?:&gt;|>){3}/.test(quotePrefix);
    const last = blocks.at(-1);
    if (last?.kind === kind) last.lines.push(lineText);
    else blocks.push({ kind, lines: [lineText] });
  }
  return blocks
    .filter((block) => block.lines.some((line) => line.trim() !== ''))
    .map(({ kind, lines }) => ({
      kind,
      content: lines.flatMap((line, index) => parseLine(index < lines.length - 1 ? `${line}\n` : line)),
    }));
}

/** `*bold*` and `~struck~` as Markdown writes them, unless a mention or a link is inside; `_italic_` is the same there. */
function withStyles(text: string): string {
  return text.replace(
    /(?<![\p{L}\p{N}*~])([*~])(?![\s*~])([^*~\n]*[^\s*~])\1(?![\p{L}\p{N}*~])/gu,
    '$1$1$2$1$1',
  );
}

function parseLine(line: string): ParsedInline[] {
  const text = line.replace(/^(\s*)[•◦▪‣] +/, '$1- ');
  const inlines: ParsedInline[] = [];
  let from = 0;
  for (const token of text.matchAll(/`([^`\n]+)`|<([^<>\n]+)>/g)) {
    inlines.push(textPiece(withStyles(decodeEntities(text.slice(from, token.index)))));
    const [, code, inside] = token;
    inlines.push(code === undefined ? parseToken(inside ?? '') : textPiece(decodeCode(code), { code: true }));
    from = token.index + token[0].length;
  }
  inlines.push(textPiece(withStyles(decodeEntities(text.slice(from)))));
  return inlines.filter((piece) => piece.kind !== 'text' || piece.text !== '');
}

/** Parses what stands between `<` and `>`. */
function parseToken(token: string): ParsedInline {
  const bar = token.indexOf('|');
  const head = bar < 0 ? token : token.slice(0, bar);
  const label = bar < 0 ? undefined : decodeEntities(token.slice(bar + 1)) || undefined;
  if (/^@[A-Z0-9]+$/i.test(head)) return { kind: 'person', id: head.slice(1), label, style: {} };
  if (/^#[A-Z0-9]+$/i.test(head)) return { kind: 'channel', id: head.slice(1), label, style: {} };
  if (head.startsWith('!subteam^')) return { kind: 'usergroup', id: head.slice(9), label, style: {} };
  if (head.startsWith('!date^')) {
    const seconds = Number(head.split('^')[1]);
    return textPiece(label ?? (Number.isFinite(seconds) ? isoTime(seconds) : head));
  }
  if (head.startsWith('!')) return textPiece(label ?? `@${head.slice(1)}`);
  if (/^[a-z][a-z0-9+.-]*:/i.test(head)) {
    const url = decodeEntities(head);
    return { kind: 'link', url, label: label ?? url, style: {} };
  }
  return textPiece(`<${decodeEntities(token)}>`);
}
