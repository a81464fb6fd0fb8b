import { type Block, isFields } from './model.ts';

/** Slack publishes no number; a plan of 12 tasks was seen, and whether tasks count as blocks is unknown. */
const MAX_PLAN_TASKS = 20;
/** Cells of a row, and characters of all cells of a message (Slack: block-kit/blocks/table-block, data-table-block). */
const MAX_COLUMNS = 20;
const MAX_TABLE_TEXT = 10_000;

/** What Slack refuses in these blocks' plans, task cards and tables, with the place; undefined if it takes them. */
export function planOrTableProblem(blocks: readonly Block[]): string | undefined {
  const types = blocks.map(({ type }) => type);
  const card = types.indexOf('task_card');
  if (card >= 0 && types.includes('plan'))
    return `a message has either a plan or task cards [json-pointer:/blocks/${card}]`;
  for (const type of ['plan', 'data_table']) {
    const second = types.indexOf(type, types.indexOf(type) + 1);
    // Whether Slack takes several is not known.
    if (second > 0) return `more than one ${type} [json-pointer:/blocks/${second}]`;
  }
  for (const [at, block] of blocks.entries()) {
    const problem = blockProblem(block);
    if (problem !== undefined) return `${problem[0]} [json-pointer:/blocks/${at}${problem[1]}]`;
  }
  const length = blocks.reduce((sum, block) => sum + tableLength(block), 0);
  return length > MAX_TABLE_TEXT ? `tables must have at most ${MAX_TABLE_TEXT} characters` : undefined;
}

/** The problem and its place inside the block. */
function blockProblem(block: Block): [string, string] | undefined {
  if (block.type === 'plan') return planProblem(block);
  if (block.type === 'task_card') return taskProblem(block, '');
  const rows = rowsOf(block);
  const odd = rows.findIndex((row) => row.length === 0 || row.length > MAX_COLUMNS);
  if (odd >= 0) return [`a row must have 1 to ${MAX_COLUMNS} cells`, `/rows/${odd}`];
  return block.type === 'data_table' ? dataTableProblem(block, rows) : undefined;
}

function planProblem({ tasks }: Block): [string, string] | undefined {
  const cards = Array.isArray(tasks) ? tasks.filter(isFields) : [];
  if (cards.length === 0 || cards.length > MAX_PLAN_TASKS)
    return [`a plan must have 1 to ${MAX_PLAN_TASKS} tasks`, '/tasks'];
  const ids = cards.map(({ task_id }) => task_id);
  const twice = ids.findIndex((id, at) => ids.indexOf(id) !== at);
  if (twice >= 0) return [`task_id already exists: ${String(ids[twice])}`, `/tasks/${twice}/task_id`];
  return cards.map((card, at) => taskProblem(card, `/tasks/${at}`)).find((one) => one !== undefined);
}

function taskProblem(card: Record<string, unknown>, pointer: string): [string, string] | undefined {
  if (card.task_id === '') return ['must NOT have fewer than 1 characters', `${pointer}/task_id`];
  for (const field of ['details', 'output']) {
    const rich = card[field];
    const elements = isFields(rich) ? rich.elements : undefined;
    if (Array.isArray(elements) && elements.length !== 1)
      return ['must have exactly 1 element', `${pointer}/${field}/elements`];
  }
  const sources = Array.isArray(card.sources) ? card.sources.filter(isFields) : [];
  const blank = sources.findIndex(({ text }) => typeof text !== 'string' || text === '');
  return blank < 0
    ? undefined
    : ['must NOT have fewer than 1 characters', `${pointer}/sources/${blank}/text`];
}

function dataTableProblem(table: Block, rows: unknown[][]): [string, string] | undefined {
  const [head = []] = rows;
  if (table.caption === '') return ['must NOT have fewer than 1 characters', '/caption'];
  if (rows.length < 2) return ['a header and at least 1 row are required', '/rows'];
  const uneven = rows.findIndex((row) => row.length !== head.length);
  if (uneven >= 0) return ['all rows must have the same number of cells', `/rows/${uneven}`];
  const rich = head.findIndex((cell) => isFields(cell) && cell.type === 'rich_text');
  if (rich >= 0) return ['unsupported type: rich_text', `/rows/0/${rich}/type`];
  for (const [at, row] of rows.entries()) {
    const blank = row.findIndex((cell) => isFields(cell) && cell.text === '');
    if (blank >= 0) return ['must NOT have fewer than 1 characters', `/rows/${at}/${blank}/text`];
  }
  const { page_size: size = 1, row_header_column_index: column = 0 } = table;
  if (!isIndex(size, 1, 101)) return ['must be a whole number from 1 to 100', '/page_size'];
  return isIndex(column, 0, head.length)
    ? undefined
    : ['must be the index of a column', '/row_header_column_index'];
}

function isIndex(value: unknown, from: number, below: number): boolean {
  return Number.isInteger(value) && Number(value) >= from && Number(value) < below;
}

function rowsOf({ type, rows }: Block): unknown[][] {
  if ((type !== 'table' && type !== 'data_table') || !Array.isArray(rows)) return [];
  return rows.map((row: unknown) => (Array.isArray(row) ? row : []));
}

/** Characters of a table's cells and caption. */
function tableLength(table: Block): number {
  const caption = table.type === 'data_table' ? String(table.caption).length : 0;
  return rowsOf(table)
    .flat()
    .reduce<number>((sum, cell) => sum + cellLength(cell), caption);
}

function cellLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce((sum: number, one: unknown) => sum + cellLength(one), 0);
  if (!isFields(value)) return 0;
  const own = typeof value.text === 'string' ? value.text.length : 0;
  return own + cellLength(value.elements);
}
