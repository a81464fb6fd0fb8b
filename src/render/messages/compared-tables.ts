import { doNumbersAgree, numberInCell, plainCell } from './cell-numbers.ts';
import { comparableText, parseDelimitedTable, tableRowsIn } from './shown-tables.ts';

/** An answer, and the delimited tables among its files, as texts. */
export interface ComparedAnswer {
  text: string;
  files: readonly string[];
}

/** Two numbers of the same column and row, as both answers have written them; `row` is '' for the only one. */
interface NumberPair {
  column: string;
  row: string;
  values: readonly [string, string];
  agree: boolean;
}

/** What a comparison of two answers came to. */
export interface AnswerComparison {
  compared: number;
  differing: readonly NumberPair[];
  /** Rows of the compared tables that only one of both has. */
  unmatchedRows: number;
}

/** The rows of both answers' tables with the same columns, in this order. */
interface TablePair {
  names: readonly string[];
  rows: readonly [string[][], string[][]];
}

/** Cells of one table: a longer one is data rather than a result. */
const MAX_CELLS = 20_000;
/** Columns whose numbers are names or places rather than sizes. */
const IDENTIFIER =
  /(?:^|[\s_.-])(?:ids?|pmc?id|entrez|accession|chr|chromosome|cluster|pos|position|start|end|year)$/i;

/**
 * Compares the numbers of two answers, in their tables of the same columns: those of their files if both have such files, else
 * those of their texts. Undefined if there is nothing to compare. Texts are not compared: words differ from run to run.
 */
export function compareAnswers(first: ComparedAnswer, second: ComparedAnswer): AnswerComparison | undefined {
  const inTexts = [first, second].map(({ text }) =>
    tableRowsIn(text).map(([head = [], , ...rows]) => [head, ...rows]),
  );
  const inFiles = [first, second].map(({ files }) => files.map((file) => parseDelimitedTable(file)));
  const pairs = new Map([...tablePairs(inTexts), ...tablePairs(inFiles)]);
  const compared = [...pairs.values()].map(compareRows).filter(({ numbers }) => numbers.length > 0);
  const numbers = compared.flatMap((one) => one.numbers);
  if (numbers.length === 0) return undefined;
  return {
    compared: numbers.length,
    differing: numbers.filter(({ agree }) => !agree),
    unmatchedRows: compared.reduce((sum, one) => sum + one.unmatchedRows, 0),
  };
}

/** The tables that both answers have, by their columns, in whatever order those are; all such tables of an answer as one. */
function tablePairs(answers: readonly (readonly string[][][])[]): Map<string, TablePair> {
  const pairs = new Map<string, TablePair>();
  for (const [side, tables] of answers.entries())
    for (const [head = [], ...rows] of tables) {
      // R leaves out the name of the column with the rows' names.
      const names =
        rows.length > 0 && rows.every(({ length }) => length > head.length) ? ['', ...head] : head;
      const columns = names.map(comparableText);
      if (new Set(columns).size < columns.length || columns.length * rows.length > MAX_CELLS) continue;
      const key = JSON.stringify(columns.toSorted());
      const pair: TablePair = pairs.get(key) ?? { names, rows: [[], []] };
      const order = pair.names.map((name) => columns.indexOf(comparableText(name)));
      pair.rows[side === 0 ? 0 : 1].push(...rows.map((row) => order.map((at) => row[at] ?? '')));
      pairs.set(key, pair);
    }
  return new Map([...pairs].filter(([, { rows }]) => rows.every(({ length }) => length > 0)));
}

function compareRows({ names, rows: [first, second] }: TablePair) {
  const keys = keyColumns(names.length, first, second);
  const others = new Map(keys && second.map((row) => [rowKey(row, keys), row]));
  const matched = first.filter((row) => keys !== undefined && others.has(rowKey(row, keys)));
  const numbers = matched.flatMap((row) =>
    names.flatMap((name, at): NumberPair[] => {
      const column = plainCell(name);
      if (keys?.includes(at) || IDENTIFIER.test(column) || /[a-z]ID$/.test(column)) return [];
      const values = [row[at] ?? '', others.get(rowKey(row, keys ?? []))?.[at] ?? ''] as const;
      const [one, other] = [numberInCell(values[0]), numberInCell(values[1])];
      const agree = one && other && doNumbersAgree(one, other);
      if (agree === undefined) return [];
      const named = keys?.map((key) => plainCell(row[key] ?? '')).join(', ') ?? '';
      return [{ column, row: named, values: [plainCell(values[0]), plainCell(values[1])], agree }];
    }),
  );
  return { numbers, unmatchedRows: first.length + second.length - 2 * matched.length };
}

/** What identifies a row: its cells in these columns. */
function rowKey(row: readonly string[], columns: readonly number[]): string {
  return JSON.stringify(columns.map((at) => comparableText(row[at] ?? '')));
}

/**
 * The columns that tell the rows of both tables apart: as few columns of words as do, from the left; else of words, whole numbers
 * and sizes with a unit, such as doses. None for tables of one row each; undefined if nothing does.
 */
function keyColumns(count: number, first: string[][], second: string[][]): number[] | undefined {
  if (first.length === 1 && second.length === 1) return [];
  const hasWords = (cell: string) => numberInCell(cell) === undefined;
  const isLabel = (cell: string) =>
    hasWords(cell) || /^\d+$/.test(plainCell(cell)) || numberInCell(cell)?.unit !== '';
  const candidates = [hasWords, isLabel].flatMap((isKey) => {
    const columns = Array.from({ length: count }, (_, at) => at).filter((at) =>
      [...first, ...second].every((row) => isKey(row[at] ?? '')),
    );
    return columns.map((_, last) => columns.slice(0, last + 1));
  });
  const areApart = (rows: string[][], keys: readonly number[]) =>
    new Set(rows.map((row) => rowKey(row, keys))).size === rows.length;
  return candidates.find((keys) => areApart(first, keys) && areApart(second, keys));
}
