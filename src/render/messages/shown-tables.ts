import { parse } from 'csv-parse/sync';
import { hasDelimiterRow, type MarkdownNode } from '../markdown/markdown-node.ts';
import { type ParseCounter, parseMarkdown } from '../markdown/parse-markdown.ts';
import { isCrowded } from '../splitting/open-part.ts';

/** Longest block of an answer (characters) that is searched for a table. */
const MAX_BLOCK_LENGTH = 10_000;
/** Characters of an answer that are searched for tables; its messages show about as many by default. */
const MAX_ANSWER_LENGTH = 100_000;

/** Finds the Markdown tables of an answer block by block: parsing a long one takes long. */
export class TableFinder {
  /** Those found so far, as rows of cells without their formatting. */
  readonly tables: string[][][] = [];
  readonly #blocks: string[];
  readonly #parsed: ParseCounter = { characters: 0 };

  constructor(answer: string) {
    const blocks = answer.slice(0, MAX_ANSWER_LENGTH).split(/\n\s*\n/);
    this.#blocks = blocks.filter(mayHoldTable).reverse();
  }

  /** Searches one more block of the first 100,000 characters; false at the end. */
  findNext(): boolean {
    const block = this.#blocks.pop();
    if (block === undefined) return false;
    const cellText = ({ start, end }: MarkdownNode) => comparableText(block.slice(start, end));
    const collect = (node: MarkdownNode): void => {
      if (node.type === 'table') this.tables.push(node.children.map((row) => row.children.map(cellText)));
      else node.children.forEach(collect);
    };
    collect(parseMarkdown(block, this.#parsed));
    return true;
  }
}

function mayHoldTable(block: string): boolean {
  return block.length <= MAX_BLOCK_LENGTH && hasDelimiterRow(block) && !isCrowded(block);
}

/**
 * Whether one of these tables shows a delimited file whole: the same columns, and each of its rows by its first cell.
 * Other cells may be rounded.
 */
export function showWholeTable(tables: readonly string[][][], file: string): boolean {
  const [head, ...body] = parseDelimitedTable(file).map((row) => row.map(comparableText));
  if (head === undefined) return false;
  return tables.some(([shownHead, ...shownBody]) => {
    const names = new Set(shownBody.map(([name]) => name));
    return shownHead?.join('|') === head.join('|') && body.every(([name]) => names.has(name));
  });
}

/** The rows of a text that separates cells by commas, semicolons or tabs, whichever its first line has most of. */
export function parseDelimitedTable(text: string): string[][] {
  const first = text.slice(0, 10_000).split(/\r?\n/, 1)[0] ?? '';
  const counted = [',', ';', '\t'].map((delimiter) => ({ delimiter, count: first.split(delimiter).length }));
  const { delimiter } = counted.reduce((best, one) => (one.count > best.count ? one : best));
  try {
    return parse(text, {
      delimiter,
      bom: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
    });
  } catch {
    return [];
  }
}

/** Cells that differ only in case, marks and spaces read the same. */
function comparableText(cell: string): string {
  return cell.toLowerCase().replace(/[^\p{L}\p{N}.+-]/gu, '');
}
