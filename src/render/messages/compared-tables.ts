import { parseDelimitedTable } from '../delimited-tables.ts';
import { doNumbersAgree, numberInCell, plainCell } from './cell-numbers.ts';
import { comparableText, tableRowsIn } from './shown-tables.ts';

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
  agree: boolean | 'rounded';
}

/** What a comparison of two answers came to. */
export interface AnswerComparison {
  compared: number;
  /** Some figures agree because one is the other rounded, or keeps within its bound. */
  isRounded: boolean;
  differing: readonly NumberPair[];
  /** Rows of the compared tables that only one of both has. */
  unmatchedRows: number;
}

/** A table by its columns, in whatever order those are. */
interface NamedTable {
  names: readonly string[];
  rows: readonly string[][];
}

/** Cells and columns of a table: a larger one is data rather than a result. */
const MAX_CELLS = 20_000;
const MAX_COLUMNS = 200;
/** Most columns that identify a row together. */
const MAX_KEY_COLUMNS = 4;
/** Columns whose numbers are names, places or ranks rather than sizes: no share or count of those, such as "cells per cluster". */
const IDENTIFIER =
  /^(?!.*(?:%|[\s_.-](?:at|by|from|in|of|per|to)[\s_.-]))(?:(?:.*[\s_.-])?(?:(?:cell|clinvar|cluster|donor|ensembl|entrez|gene|hgnc|patient|pmc?|probe|protein|run|sample|snp|study|subject|u?subj|tax|transcript|uniprot|variation)?ids?|pubmed|entrez|accession|chr|chromosome|cluster|pos|position|residue|codon|tss|start|end|year|date|rank)|(?:(?:row|cell)[\s_.-])?index|(?:(?:date|year)[\s_.-])?published|unnamed: ?\d+|#?)$/i;

/** A range, an interval or a fraction, which differ from run to run, and a word with digits, such as an accession. */
const RANGE = /^[^\p{L}\d]*\d+\D+\d/u;
const ID_LIKE = /^(?=.*\d)\p{L}[^\s=<>≤≥≈]*$/u;
/** A column that says which row it is, such as that of pandas. */
const ROW_NUMBER = /^(?:(?:row[\s_.-])?index|unnamed: ?\d+|n[or]\.?|#?)$/i;
/** References at the end of a cell, such as [3], [^3] and [3, 5], also with their links; [18, 30] alone is an interval. */
const CITATIONS =
  /(?!^\[\d+[,;–-]\s?\d+\]$)(?:\s?\\?\[\[?\^?\d{1,3}(?:[,;–-]\s?\d{1,3}){0,9}\\?\]\]?(?:\(https?:[^()\s]*\))?){1,4}(?=[\s*_]*$)/;

/**
 * Compares the numbers of two answers, in their tables of the same columns, of which an answer may have only one: those of their
 * files, and those of their texts where no file has the same. Undefined if there is nothing to compare. Texts are not compared:
 * words differ from run to run.
 */
export function compareAnswers(first: ComparedAnswer, second: ComparedAnswer): AnswerComparison | undefined {
  const inFiles = [first, second].map(({ files }) => files.map((file) => parseDelimitedTable(file)));
  const inTexts = [first, second].map(({ text }) => tableRowsIn(text));
  const numbers = new Map<string, NumberPair>();
  const unmatched = new Set<string>();
  for (const [ours, theirs] of [inFiles, inTexts].map((both) => both.map(tablesByColumns))) {
    // Of the figures of a text, those that a file has are known by then; two tables may have different ones of one name.
    const known = new Set([...numbers.values()].map(figureName));
    for (const [columns, table] of ours ?? []) {
      const other = theirs?.get(columns);
      const compared = other && compareRows(table, other);
      for (const pair of compared?.numbers ?? [])
        if (!known.has(figureName(pair))) numbers.set(figureName(pair) + pair.values.join(), pair);
      for (const row of compared?.unmatched ?? []) unmatched.add(row);
    }
  }
  const all = [...numbers.values()];
  const isRounded = all.some(({ agree }) => agree === 'rounded');
  const differing = all.filter(({ agree }) => agree === false);
  const unmatchedRows = unmatched.size;
  return all.length === 0 ? undefined : { compared: all.length, isRounded, differing, unmatchedRows };
}

function figureName({ column, row }: NumberPair): string {
  return JSON.stringify([column, row].map(comparableText));
}

/** The tables of an answer by their columns. Nobody can tell which of two with the same columns the other answer's is. */
function tablesByColumns(tables: readonly string[][][]): Map<string, NamedTable> {
  const found = new Map<string, NamedTable | undefined>();
  for (const [head = [], ...all] of tables) {
    const isEnded = all.every((row) => row.length === head.length + 1 && row.at(-1) === '');
    const rows = isEnded ? all.map((row) => row.slice(0, -1)) : all;
    // R leaves out the name of the column with the rows' names.
    const isOfR = !head[0]?.startsWith('#') && rows.every(({ length }) => length === head.length + 1);
    const names = isOfR ? ['', ...head] : head;
    const columns = names.map(comparableText);
    const isOdd =
      new Set(columns).size < columns.length || rows.some(({ length }) => length > columns.length);
    if (rows.length === 0 || isOdd || columns.length > MAX_COLUMNS) continue;
    const key = JSON.stringify(columns.toSorted());
    const isData = columns.length * rows.length > MAX_CELLS;
    found.set(key, found.has(key) || isData ? undefined : { names, rows: withRepeatedNames(rows) });
  }
  return new Map([...found].flatMap(([key, table]) => (table === undefined ? [] : [[key, table] as const])));
}

/** Rows whose first cell is blank before a name have that of the row above, as tables with merged cells do. */
function withRepeatedNames(rows: readonly string[][]): string[][] {
  let name = '';
  return rows.map(([first = '', ...rest]) => {
    const [next = ''] = rest;
    if (first.trim() !== '' || next.trim() === '' || numberInCell(next) !== undefined) name = first;
    return [name, ...rest];
  });
}

/** The figures that two tables of the same columns have in common, and the names of rows that only one of them has. */
function compareRows({ names, rows: first }: NamedTable, other: NamedTable) {
  const order = names.map((name) => other.names.map(comparableText).indexOf(comparableText(name)));
  const second = other.rows.map((row) => order.map((at) => row[at] ?? ''));
  const keys = keyColumns(names.length, first, second);
  if (keys === undefined) return undefined;
  const ours = new Set(first.map((row) => rowKey(row, keys)));
  const theirs = new Map(second.map((row) => [rowKey(row, keys), row]));
  const unmatched = [...ours, ...theirs.keys()].filter((key) => !(ours.has(key) && theirs.has(key)));
  const areNumbered = (at: number, from: number) =>
    [first, second].every((rows) =>
      rows.every((row, index) => Number(plainCell(row[at] ?? '')) === index + from),
    );
  const columns = names.map((name, at) => ({ column: plainCell(name), at }));
  // Where one answer has more rows, the same number may be that of another row.
  const isNumber = (at: number) =>
    ROW_NUMBER.test(columns[at]?.column ?? '') && (areNumbered(at, 0) || areNumbered(at, 1));
  if (unmatched.length > 0 && keys.every(isNumber)) return undefined;
  // "No.", "Nr." and the like stand before the names.
  const isLabel = (column: string, at: number) =>
    keys.includes(at) || isIdentifier(column) || (at < (keys[0] ?? 0) && areNumbered(at, 1));
  const figures = columns.filter(({ column, at }) => !isLabel(column, at));
  const numbers = first.flatMap((row) => {
    const like = theirs.get(rowKey(row, keys)) ?? [];
    const named = keys.map((key) => nameIn(row[key] ?? '')).join(', ');
    return figures.flatMap(({ column, at }): NumberPair[] => {
      const values = [row[at] ?? '', like[at] ?? ''] as const;
      const [one, two] = [numberInCell(values[0]), numberInCell(values[1])];
      const agree = one && two && doNumbersAgree(one, two);
      if (agree === undefined) return [];
      return [{ column, row: named, values: [plainCell(values[0]), plainCell(values[1])], agree }];
    });
  });
  return { numbers, unmatched: numbers.length === 0 ? [] : unmatched };
}

/** What stands in brackets behind the name does not count, unless it says that these are shares: "HER2 pos (%)". */
function isIdentifier(column: string): boolean {
  return IDENTIFIER.test(column.replace(/\s{0,3}\([^()%]*\)$/, '')) || /[a-z]ID$/.test(column);
}

/** What identifies a row: its cells in these columns. */
function rowKey(row: readonly string[], columns: readonly number[]): string {
  const plain = (at: number) =>
    nameIn(row[at] ?? '')
      .replace(/[‐-―−]/g, '-')
      .replace(/\s+/g, ' ');
  return JSON.stringify(columns.map(plain)).toLowerCase();
}

/** The name in a cell, without its link and the references behind it, whose numbers differ from run to run. */
function nameIn(cell: string): string {
  return plainCell(cell.replace(CITATIONS, '').replace(/\[([^[\]]*)\]\(https?:[^()\s]*\)/g, '$1'));
}

/**
 * The columns that tell the rows of both tables apart: as few of words as do, from the left, and those of ids; else those of words
 * and of sizes, such as doses, with a unit or in the first column, if one table has all rows of the other. Of tables of one row
 * each, all words. Undefined if nothing does.
 */
function keyColumns(count: number, first: readonly string[][], second: readonly string[][]) {
  const all = [...first, ...second];
  const columnsOf = (isKey: (cell: string, at: number) => boolean) =>
    Array.from({ length: count }, (_, at) => at).filter((at) => all.every((row) => isKey(row[at] ?? '', at)));
  const words = columnsOf((cell) => numberInCell(cell) === undefined);
  if (first.length === 1 && second.length === 1) return words;
  const labels = columnsOf((cell, at) => at === 0 || numberInCell(cell)?.unit !== '');
  const isKey = (keys: readonly number[]) =>
    [first, second].every((rows) => new Set(rows.map((row) => rowKey(row, keys))).size === rows.length);
  const prefixes = (columns: readonly number[]) =>
    columns.slice(0, MAX_KEY_COLUMNS).map((_, last) => columns.slice(0, last + 1));
  const ranges = columnsOf((cell, at) => at > 0 && RANGE.test(plainCell(cell)));
  const single = words.filter((at) => !ranges.includes(at) && isKey([at]));
  const leading = words.findIndex((at) => !ranges.includes(at));
  const named = prefixes(leading < 0 ? [] : words.slice(leading)).find(isKey) ?? single.slice(0, 1);
  if (named.length > 0) {
    const isOfOneMind = arePairedAlike([named, ...single.map((at) => [at])], first, second);
    const ids = columnsOf((cell, at) => single.includes(at) && ID_LIKE.test(plainCell(cell)));
    return isOfOneMind ? [...new Set([...named, ...ids])] : undefined;
  }
  // Ranges may be names, too, such as loci or groups of ages.
  const inDoubt = [...words.map((at) => [at]), ...prefixes(labels.filter((at) => !ranges.includes(at)))];
  return [...inDoubt, ...prefixes(labels)].find((keys) => isKey(keys) && isPairedWhole(keys, first, second));
}

/** Whether each row of the shorter table has its like in the other. */
function isPairedWhole(key: readonly number[], first: readonly string[][], second: readonly string[][]) {
  const [few, many] = first.length < second.length ? [first, second] : [second, first];
  const known = new Set(many.map((row) => rowKey(row, key)));
  return few.every((row) => known.has(rowKey(row, key)));
}

/** Whether keys, of which each tells rows apart, pair the same rows where they pair any: else nobody can tell which names them. */
function arePairedAlike(keys: readonly number[][], first: readonly string[][], second: readonly string[][]) {
  const places = keys.map((key) => new Map(second.map((row, place) => [rowKey(row, key), place])));
  return first.every((row) => {
    const found = keys.map((key, index) => places[index]?.get(rowKey(row, key)));
    return new Set(found.filter((place) => place !== undefined)).size <= 1;
  });
}
