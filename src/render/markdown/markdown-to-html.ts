import { micromark } from 'micromark';
import { gfmHtml } from 'micromark-extension-gfm';
import type {} from 'micromark-extension-gfm-autolink-literal';
import type {} from 'micromark-extension-gfm-table';
import type { HtmlExtension } from 'micromark-util-types';
import { escapeHtml, unescapeHtml } from '../text-format.ts';
import { bareAddresses, ESCAPE, withDoiMarks } from './bare-address.ts';
import { JOINTS } from './cjk-emphasis.ts';
import { baseName, figureOf } from './figures.ts';
import { BLOCK_MARKS } from './literal-marks.ts';
import { hasDelimiterRow, MAX_TABLE_HEAD_LENGTH, openFenceAfter } from './markdown-node.ts';
import { spanType } from './math.ts';
import { limitNesting, markdownSyntax } from './parse-markdown.ts';
import { withoutSignedLinks } from './signed-links-in-text.ts';
import { unicodeFormula } from './unicode-math.ts';
import { isLinkTarget, labelNote } from './unsafe-links.ts';

/** Shows the cells beyond those of a table's header, too. */
const allCells: HtmlExtension = {
  enter: {
    tableData() {
      const side = this.getData('tableAlign')?.[this.getData('tableColumn') ?? 0] ?? 'none';
      this.lineEndingIfNeeded();
      this.tag(side === 'none' ? '<td>' : `<td align="${side}">`);
    },
  },
  exit: {
    tableData() {
      this.tag('</td>');
      this.setData('tableColumn', (this.getData('tableColumn') ?? 0) + 1);
    },
  },
};
/** What agents write for what Markdown lacks: formulas, scripts and breaks, and figures, which the page does not have. */
const spans: HtmlExtension = {
  enter: {
    codeText() {
      this.setData('inCodeText', true);
      this.buffer();
    },
  },
  exit: {
    codeText(token) {
      const source = this.sliceSerialize(token);
      const code = this.resume();
      this.setData('inCodeText');
      this.raw(spanType(source) === 'inlineCode' ? `<code>${code}</code>` : spanHtml(source));
    },
  },
};
/** Bare addresses, as people end them. */
const addresses: HtmlExtension = {
  exit: {
    literalAutolinkHttp(token) {
      for (const { piece, isAddress } of bareAddresses(this.sliceSerialize(token))) {
        const shown = isAddress ? piece.replace(ESCAPE, '') : piece;
        const encoded = (part: string) => encodeURIComponent(part.toWellFormed());
        if (isAddress) this.tag(`<a href="${escapeHtml(shown.replace(/[^!#$%&-;=?-Z_a-z~]+/g, encoded))}">`);
        this.raw(escapeHtml(shown));
        if (isAddress) this.tag('</a>');
      }
    },
  },
};
/** Numbers of items as they are written, behind a character that no text holds; where all are 1, the page counts. */
const numbers: HtmlExtension = {
  exit: {
    listItemPrefix(token) {
      const number = /^(?!1\D)\d+/.exec(this.sliceSerialize(token))?.[0];
      if (number !== undefined) this.raw(`\ufdd2${number}>`);
    },
  },
};
/** Keeps line ends of code that follows text in an item of a tight list: the compiler would leave them out. */
const codeLines: HtmlExtension = {
  enter: {
    codeFencedFence() {
      this.setData('slurpAllLineEndings');
    },
    codeFlowValue() {
      this.setData('slurpAllLineEndings');
    },
  },
};
const HTML = [gfmHtml(), allCells, spans, addresses, numbers, codeLines];

function spanHtml(source: string): string {
  if (spanType(source) === 'lineBreak') return '<br>';
  const figure = figureOf(source);
  if (figure !== undefined) return `[${escapeHtml(figure.label || baseName(figure.path))}]`;
  const [, tag = '', inside = ''] = /^<(su[bp]|[bi]|em|strong)>(.*)<\/\1>$/i.exec(source) ?? [];
  if (tag !== '') return `<${tag.toLowerCase()}>${escapeHtml(inside)}</${tag.toLowerCase()}>`;
  const plain = unicodeFormula(source);
  return plain === undefined ? `<code>${escapeHtml(source)}</code>` : escapeHtml(plain);
}

const LINK = /<a href="([^"]*)"[^>]*>([\s\S]*?)<\/a>/g;

/** Characters after which a text is cut at its next block, and where it is cut in any case, if it can at an item before. */
const PIECE_CHARACTERS = 4_000;
const MAX_PIECE_CHARACTERS = 8_000;
/** The parser takes quadratic time for short lines. */
const MAX_PIECE_LINES = 400;
/** Most cells of the tables of a piece: a crafted one has thousands of columns, and rows without cells, which HTML gets. */
const MAX_CELLS = 16_000;
const DELIMITER_ROW = /^[ \t>]*[|:-][ \t|:-]*$/gm;
/** A line with its end, or a part of a very long one, up to a space if it has any. */
const LINE = /[^\n]{0,8000}\n|[^\n]{1,8000}$|[^\n]{1,8000}(?<=\s)|[^\n]{1,8000}/g;

/**
 * A Markdown text as safe HTML, in pieces that each take one slice to make: without raw HTML, pictures and signed links.
 * Headings all have one level, below those of the page.
 */
export function* markdownToHtml(text: string): Generator<string> {
  // Behind a character that no text holds, what code keeps of a backslash is known.
  const safe = withoutSignedLinks(text.replace(/[\ufdd1\ufdd3\ufdd4]/g, ''));
  const readable = withDoiMarks(safe, (mark) => encodeURIComponent(mark).replace('%', '\ufdd4'));
  const escaped = readable.replace(BLOCK_MARKS, '\ufdd3\\$&');
  for (const piece of pieces(escaped)) yield toHtml(piece);
}

function toHtml(text: string): string {
  const source = limitTables(limitNesting(text)).replace(JOINTS, '\ufdd1');
  return (
    micromark(source, { extensions: markdownSyntax(source), htmlExtensions: HTML })
      .replace(/%EF%B7%9([14])/g, (_, mark) => (mark === '4' ? '%' : ''))
      .replace(/\ufdd4(23|3C|3E)/g, (_, code: string) => escapeHtml(decodeURIComponent(`%${code}`)))
      .replace(/\ufdd3\\?|[\ufdd1\ufdd4]/g, '')
      .replace(/<(\/?)h[1-6]>/g, '<$1h4>')
      // eLabFTW keeps no other tag for words that no longer count.
      .replace(/<(\/?)del>/g, '<$1s>')
      .replace(/<li>\ufdd2(\d+)>/g, '<li value="$1">')
      .replace(/<img src="[^"]*" alt="([^"]*)"[^>]*>/g, '[$1]')
      .replace(/<input type="checkbox"([^>]*)>/g, (_, state: string) =>
        state.includes('checked') ? '☑' : '☐',
      )
      .replace(LINK, honestLink)
  );
}

/** A link as the page shows it: as text where it leads to no web address or e-mail, and with its host where its label misleads. */
function honestLink(link: string, href: string, shown: string): string {
  const target = unescapeHtml(href);
  if (!isLinkTarget(target)) return shown;
  const label = shown.replace(/<[^>]*>/g, (tag) => (tag === '<br>' ? ' ' : ''));
  const note = escapeHtml(labelNote(unescapeHtml(label), target));
  return link.replace(/<\/a>$/, () => `${note}</a>`);
}

/** The text, where tables that are mostly missing cells are no tables. */
function limitTables(text: string): string {
  const lines = text.split(/\r\n?|\n/).length;
  return text.replace(DELIMITER_ROW, (row) => (row.split('|').length * lines > MAX_CELLS ? `x${row}` : row));
}

/** The beginning of an item of a list that stands in no other. */
const ITEM = /^(?:[-+*]|\d{1,9}[.)])[ \t]/;

/** Whether a block that stands in no other begins with a line, or a further item of a list does. */
function beginsBlock(line: string, before: string): boolean {
  return before.trim() === ''
    ? /^\S/.test(line)
    : ITEM.test(line) && (ITEM.test(before) || /^\s/.test(before));
}

/** The text in pieces, cut between blocks. Where code or a table must be cut, its fence or its header is repeated. */
function* pieces(text: string): Generator<string> {
  let piece = '';
  let lines = 0;
  let fence = '';
  let head = '';
  let opener = '';
  let before = '';
  for (const { 0: line } of text.matchAll(LINE)) {
    const length = ITEM.test(line) ? MAX_PIECE_CHARACTERS - 1_000 : PIECE_CHARACTERS;
    if (fence === '' && piece.length > length && beginsBlock(line, before)) {
      yield piece;
      piece = '';
      lines = 0;
    }
    piece += (line.includes('|') ? opener : '') + line;
    opener = '';
    lines += 1;
    fence = openFenceAfter(fence, line);
    if (!line.includes('|')) head = '';
    else if (head === '' && hasDelimiterRow(line)) head = before + line;
    before = line;
    if (piece.length < MAX_PIECE_CHARACTERS && lines < MAX_PIECE_LINES) continue;
    lines = 0;
    yield fence === '' ? piece : `${piece}\n${fence}`;
    piece = fence === '' ? '' : `${fence}\n`;
    opener = fence === '' && head.length <= MAX_TABLE_HEAD_LENGTH ? head : '';
  }
  if (piece.trim() !== '') yield piece;
}
