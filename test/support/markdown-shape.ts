import type { Code, Nodes, Table } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmFromMarkdown } from 'mdast-util-gfm';
import { gfm } from 'micromark-extension-gfm';
import { expect } from 'vitest';
import type { AnswerPart } from '../../src/render/splitting/answer-splitter.ts';

/** HTML, link definitions and footnotes are text in Slack. */
const notInSlack = ['htmlFlow', 'htmlText', 'definition', 'gfmFootnoteDefinition', 'gfmFootnoteCall'];
const extensions = [gfm(), { disable: { null: [...notInSlack, 'gfmPotentialFootnoteCall'] } }];

/** What Slack makes of a Markdown text, read anew with a parser and without the code under test. */
export interface Shape {
  /** Blocks: headings, rules and tables one each, and one for each run of what is between. */
  blocks: number;
  tables: Table[];
  codes: Code[];
  /** Fences that nothing closes before their text ends. */
  openFences: number;
}

export function shapeOf(markdown: string): Shape {
  const shape: Shape = { blocks: 0, tables: [], codes: [], openFences: 0 };
  const root = fromMarkdown(markdown, { extensions, mdastExtensions: [gfmFromMarkdown()] });
  let inRun = false;
  const walk = (node: Nodes) => {
    const alone = ['heading', 'thematicBreak', 'table'].includes(node.type);
    if (node.type !== 'root' && (alone || !inRun)) shape.blocks += 1;
    if (node.type !== 'root') inRun = !alone;
    if (node.type === 'table') shape.tables.push(node);
    if (node.type === 'code') {
      shape.codes.push(node);
      const source = markdown.slice(node.position?.start.offset, node.position?.end.offset);
      const fence = /^(?:`{3,}|~{3,})/.exec(source)?.[0];
      const last = source.slice(source.lastIndexOf('\n') + 1).replace(/^[ \t>]*/, '');
      const closed = source.includes('\n') && fence !== undefined && last.startsWith(fence);
      if (fence !== undefined && !closed) shape.openFences += 1;
    }
    const holdsBlocks = ['root', 'list', 'listItem', 'blockquote'].includes(node.type);
    if (holdsBlocks && 'children' in node) node.children.forEach(walk);
  };
  walk(root);
  return shape;
}

/** The Markdown of a part as it is posted. */
export function markdownOf(part: AnswerPart): string {
  return part.blocks.map((block) => block.text).join('');
}

/** The text in a table's cells, row by row. */
export function cellsOf(table: Table): string[][] {
  return table.children.map((row) => row.children.map(textOf));
}

/** Characters of a table's cells. */
export function tableText(table: Table): number {
  return cellsOf(table).flat().join('').length;
}

function textOf(node: Nodes): string {
  if ('value' in node) return node.value;
  return 'children' in node ? node.children.map(textOf).join('') : '';
}

/**
 * Expects what Slack takes of one message: under 10,000 characters of block text (with room for our lines), a text
 * under 4,000 bytes, 45 blocks with five of ours to come (one more while a line of it is half-written), tables of 100
 * rows, 20 cells and 10,000 characters.
 */
export function expectWithinLimits(part: AnswerPart, options: { fencesClosed: boolean }): void {
  const markdown = markdownOf(part);
  const { blocks, tables, openFences } = shapeOf(markdown);
  expect(markdown.length).toBeLessThan(9_950);
  expect(Buffer.byteLength(part.text)).toBeLessThan(4_000);
  expect(blocks).toBeLessThanOrEqual(part.isClosed ? 45 : 46);
  expect(Math.max(0, ...tables.map((table) => table.children.length))).toBeLessThanOrEqual(100);
  expect(Math.max(0, ...tables.flatMap(cellsOf).map((row) => row.length))).toBeLessThanOrEqual(20);
  expect(tables.reduce((sum, table) => sum + tableText(table), 0)).toBeLessThanOrEqual(10_000);
  if (options.fencesClosed) expect(openFences).toBe(0);
}
