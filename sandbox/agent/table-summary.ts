import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';

/** Statistics of one numeric column. */
export interface ColumnSummary {
  name: string;
  count: number;
  mean: number;
  min: number;
  max: number;
  /** Sample standard deviation (n - 1); `NaN` for one value. */
  sd: number;
}

export interface TableSummary {
  rows: number;
  /** All column names, in order. */
  header: string[];
  /** The columns in which every cell is a number or missing. */
  columns: ColumnSummary[];
}

const MISSING = new Set(['', 'na', 'n/a', 'nan', 'null', '.', '-']);

/** Reads a table in one pass and constant memory; the first record is the header. */
export async function summarizeTable(source: Readable, delimiter: ',' | '\t'): Promise<TableSummary> {
  const parser = parse({
    delimiter,
    bom: true,
    trim: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
  });
  let meters: ColumnStats[] | undefined;
  let rows = 0;
  await pipeline(source, parser, async (records: AsyncIterable<string[]>) => {
    for await (const record of records) {
      if (meters === undefined) {
        meters = record.map((name) => new ColumnStats(name));
        continue;
      }
      rows += 1;
      for (const [index, meter] of meters.entries()) meter.add(record[index] ?? '');
    }
  });
  const all = meters ?? [];
  const columns = all.filter((meter) => meter.numeric).map((meter) => meter.summary());
  return { rows, header: all.map(({ name }) => name), columns };
}

/** Running statistics of one column (Welford's algorithm). */
class ColumnStats {
  readonly name: string;
  #count = 0;
  #mean = 0;
  #squares = 0;
  #min = Number.POSITIVE_INFINITY;
  #max = Number.NEGATIVE_INFINITY;
  #words = false;

  constructor(name: string) {
    this.name = name;
  }

  get numeric(): boolean {
    return this.#count > 0 && !this.#words;
  }

  add(cell: string): void {
    if (this.#words || MISSING.has(cell.toLowerCase())) return;
    const value = Number(cell);
    if (!Number.isFinite(value)) {
      this.#words = true;
      return;
    }
    this.#count += 1;
    const off = value - this.#mean;
    this.#mean += off / this.#count;
    this.#squares += off * (value - this.#mean);
    this.#min = Math.min(this.#min, value);
    this.#max = Math.max(this.#max, value);
  }

  summary(): ColumnSummary {
    const sd = Math.sqrt(this.#squares / (this.#count - 1));
    return { name: this.name, count: this.#count, mean: this.#mean, min: this.#min, max: this.#max, sd };
  }
}

/** Formats a number with at most six significant digits; empty if it is not finite. */
export function formatNumber(value: number): string {
  return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : '';
}

/** The summary as CSV. */
export function summaryCsv({ columns }: TableSummary): string {
  const lines = columns.map((column) => [quoted(column.name), ...figuresOf(column)].join(','));
  return `${['column,count,mean,min,max,sd', ...lines].join('\n')}\n`;
}

function figuresOf({ count, mean, min, max, sd }: ColumnSummary): string[] {
  return [String(count), ...[mean, min, max, sd].map(formatNumber)];
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The summary as a Markdown table. */
export function summaryMarkdown({ columns }: TableSummary): string {
  const lines = columns.map((column) => `| ${[cell(column.name), ...figuresOf(column)].join(' | ')} |`);
  return [
    '| column | count | mean | min | max | sd |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
    ...lines,
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ');
}
