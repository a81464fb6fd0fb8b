import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import { TextDecoder } from 'node:util';
import { delimiterOf, parseDelimitedTable } from '../../render/delimited-tables.ts';
import { fileType } from '../../render/file-types.ts';
import { type AlteredCells, alteredCells } from '../../render/strings/index.ts';
import type { FileNote } from '../../store/schema.ts';
import type { UploadSource } from './file-upload.ts';

/** How many bytes of a file are searched, and how many are parsed at once. */
const MAX_BYTES = 5 * 1_048_576;
const BYTES_AT_ONCE = 65_536;
/** A longer cell (characters) is prose. */
const MAX_CELL_LENGTH = 40;
/** A longer row (characters) is cut: a file without line breaks must not fill the memory. */
const MAX_ROW_LENGTH = 65_536;
const MAX_COLUMNS = 200;
const MAX_SAMPLES = 3;

const MONTH = '(?:Jan|Feb|Mar|Mär|Mrz|Apr|May|Mai|Jun|Jul|Aug|Sept?|Oct|Okt|Nov|Dec|Dez)';
/** How spreadsheets show the dates that they make of names such as SEPT2. */
const DATE = new RegExp(
  `^(?:\\d{1,2}(?:[-./ ]|\\. )${MONTH}\\.?(?:[-./ ]\\d{2,4})?|\\d{4}-\\d\\d-\\d\\d(?:[ T][\\d:.]+Z?)?|\\d{1,2}([./-])\\d{1,2}\\1\\d{2,4})$`,
  'i',
);
/** With a capital only: DEC-205 is a name. */
const MONTH_FIRST = new RegExp(`^${MONTH}[-. ]\\d{1,4}$`);
/** What spreadsheets make of ids of RIKEN such as 2310009E13. */
const FLOAT = /^\d(?:[.,]\d+)?E\+\d{1,3}$/i;
/** The new names of genes whose former names spreadsheets take for a date, by month and day (genenames.org). */
const GENES_BY_DATE: Readonly<Record<string, (day: number) => string[]>> = {
  mar: (day) => (day > 11 ? [] : [`MARCHF${day}`, ...(day <= 2 ? [`MTARC${day}`] : [])]),
  sep: (day) => (day <= 12 || day === 14 ? [`SEPTIN${day}`] : day === 15 ? ['SELENOF'] : []),
  oct: (day) => (day === 4 ? ['POU5F1'] : []),
  dec: (day) => [[], ['DELEC1', 'BHLHE40'], ['BHLHE41']][day] ?? [],
};
const GENE = /^(?=.*\d)[A-Z][A-Z0-9]+(?:[-.][A-Z0-9]+)*$|^[A-Z]{3,10}$|^[A-Z][a-z]{1,8}\d+[a-z]?\d?$/;
const GENE_HEADING = /(?:^|[^a-z])(?:genes?|symbols?|hgnc|mgi|geneid|genename|genesymbol|orf)(?:$|[^a-z])/i;
/** Headings of columns that hold dates, counts or labels, whatever their cells look like. */
const OTHER_HEADING =
  /date|day|time|month|year|visit|birth|dob|sample|batch|count|length|group|patient|subject/i;
/** A column without a heading counts as genes with this many of them, and this share of its cells. */
const MIN_GENES = 5;
const MIN_SHARE = 0.6;

/** What was counted in a column of a table. */
interface Column {
  name: string;
  /** The name, with spaces between words that are written together (`geneName`). */
  heading: string;
  cells: number;
  genes: number;
  dates: number;
  floats: number;
  /** The first few dates and floats. */
  altered: Set<string>;
  /** The lengths of numbers with a leading zero. */
  padded: Set<number>;
  /** Of each length, how many numbers have no leading zero, and the first few of them. */
  unpadded: Map<number, { count: number; samples: Set<string> }>;
}

/**
 * Searches a file, if it is a table as text, for altered cells as its upload reads the returned `source`. `remark` then says
 * what was found. If the upload did not read the file's beginning, `remark` reads it first, and says nothing if that fails.
 */
export function withAlteredCellSearch(source: UploadSource): {
  source: UploadSource;
  remark: (signal: AbortSignal) => Promise<Pick<FileNote, 'remark'>>;
} {
  const type = fileType(source.name, source.mime);
  const isTable = /\.txt$/i.test(source.name) || /^text\/(?:csv|tab-separated-values)/.test(type);
  if (!isTable) return { source, remark: async () => ({}) };
  let search: AlteredCellSearch | undefined;
  const openAndSearch: UploadSource['open'] = async (offset, signal) => {
    const bytes = await source.open(offset, signal);
    if (offset > 0) return bytes;
    search = new AlteredCellSearch();
    return search.read(bytes);
  };
  const remark = async (signal: AbortSignal) => {
    if (search === undefined) await consumeBeginning(openAndSearch(0, signal)).catch(() => undefined);
    const found = search?.finish();
    return found === undefined ? {} : { remark: alteredCells(found) };
  };
  return { source: { ...source, open: openAndSearch }, remark };
}

/** Reads a file's first bytes and drops them, so that the search that yields them sees them. */
async function consumeBeginning(opening: Promise<AsyncIterable<Uint8Array>>): Promise<void> {
  let left = MAX_BYTES;
  for await (const chunk of await opening) {
    left -= chunk.byteLength;
    if (left <= 0) return;
  }
}

/** Looks for altered cells in the columns of a table as text, while its bytes pass. */
class AlteredCellSearch {
  #columns: Column[] | undefined;
  #hasRowsBelowHeader = false;
  #bytesLeft = MAX_BYTES;
  /** What was read of the next row. */
  #unfinishedRow = '';
  #delimiter: string | undefined;
  #decoder: TextDecoder | undefined;

  /** Yields all bytes, and searches the first 5 MiB of them. */
  async *read(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      for (let at = 0; at < chunk.byteLength && this.#bytesLeft > 0; at += BYTES_AT_ONCE) {
        this.#take(chunk.subarray(at, at + Math.min(BYTES_AT_ONCE, this.#bytesLeft)));
        await setImmediate(); // Parsing must not hold up the process.
      }
      yield chunk;
    }
  }

  /** Ends the search. Returns what was found in the column with the most altered cells; undefined without any. */
  finish(): AlteredCells | undefined {
    // At a file's end, this is a row without a line break. At the limit of bytes, it may be half a row.
    if (this.#bytesLeft > 0) this.#parse(this.#unfinishedRow);
    this.#unfinishedRow = '';
    const altered = (this.#columns ?? []).flatMap((column, index) => {
      const alteration = alteredGenes(column) ?? lostZeros(column);
      return alteration === undefined ? [] : [{ ...alteration, column: column.name, number: index + 1 }];
    });
    return altered.toSorted((one, other) => other.count - one.count)[0];
  }

  /** Parses the rows that end in these bytes, and keeps what follows them. */
  #take(bytes: Uint8Array): void {
    this.#bytesLeft -= bytes.byteLength;
    this.#decoder ??= new TextDecoder(encodingOf(bytes));
    const text = this.#unfinishedRow + this.#decoder.decode(bytes, { stream: true });
    const end = rowsEnd(text);
    this.#parse(text.slice(0, end));
    this.#unfinishedRow = text.slice(end).slice(0, MAX_ROW_LENGTH);
  }

  /** Counts the cells of all rows in a text. */
  #parse(text: string): void {
    if (text.trim() === '') return;
    if (/^(?!#).*[,;\t]/m.test(text)) this.#delimiter ??= delimiterOf(text);
    for (const row of parseDelimitedTable(text, this.#delimiter)) this.#addRow(row.slice(0, MAX_COLUMNS));
  }

  /** Counts a row's cells. The first row, or the one below a title, is the header if no cell is a date or float. */
  #addRow(row: readonly string[]): void {
    if (row.length === 1 && row[0]?.startsWith('#') === true) return; // A comment.
    // Two cells below a single one may be a row below R's header.
    const isBelowTitle = !this.#hasRowsBelowHeader && this.#columns?.length === 1 && row.length > 2;
    if (this.#columns === undefined || isBelowTitle) {
      const isHeader = !row.some((cell) => isDate(cell) || FLOAT.test(cell.trim()));
      this.#columns = row.map((cell) => newColumn(isHeader ? cell.trim() : ''));
      if (isHeader) return;
    }
    // R's header lacks the name of the first column, which has the names of the rows.
    const hasRowName = row.length === this.#columns.length + 1;
    if (hasRowName && !this.#hasRowsBelowHeader) this.#columns.unshift(newColumn(''));
    this.#hasRowsBelowHeader = true;
    for (const [index, column] of this.#columns.entries()) addCell(column, row[index]?.trim() ?? '');
  }
}

/** Where the last whole row ends. A line break in quotes ends no row, unless the quotes go on for longer than a row may. */
function rowsEnd(text: string): number {
  // A \r at the very end may be half of a \r\n.
  const lastLineEnd = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r', text.length - 2)) + 1;
  let lastRowEnd = 0;
  let isQuoted = false;
  for (const { 0: mark, index } of text.slice(0, lastLineEnd).matchAll(/["\r\n]/g)) {
    if (mark === '"') isQuoted = !isQuoted;
    else if (!isQuoted) lastRowEnd = index + 1;
  }
  return text.length - lastRowEnd > MAX_ROW_LENGTH ? lastLineEnd : lastRowEnd;
}

/** A text's encoding, by its beginning. The last line of that does not count, because it may end within a character. */
function encodingOf(beginning: Uint8Array): string {
  const [first, second] = beginning;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  return isUtf8(beginning.subarray(0, beginning.lastIndexOf(0x0a) + 1)) ? 'utf-8' : 'windows-1252';
}

function newColumn(name: string): Column {
  const heading = name.replace(/([a-z])([A-Z])/g, '$1 $2');
  const counts = { cells: 0, genes: 0, dates: 0, floats: 0 };
  return { name, heading, ...counts, altered: new Set(), padded: new Set(), unpadded: new Map() };
}

function isDate(cell: string): boolean {
  return DATE.test(cell.trim()) || MONTH_FIRST.test(cell.trim());
}

/** Counts a cell: a gene's name, what a spreadsheet makes of one, or a number with or without its zeros. */
function addCell(column: Column, cell: string): void {
  if (cell === '' || cell.length > MAX_CELL_LENGTH) return;
  column.cells += 1;
  const isDated = isDate(cell);
  const isFloat = !isDated && FLOAT.test(cell);
  if (isDated) column.dates += 1;
  else if (isFloat) column.floats += 1;
  else if (GENE.test(cell)) column.genes += 1;
  if ((isDated || isFloat) && column.altered.size < MAX_SAMPLES) column.altered.add(cell);
  if (!/^\d{1,20}$/.test(cell)) return;
  if (/^0\d/.test(cell)) {
    column.padded.add(cell.length);
    return;
  }
  const { count, samples } = column.unpadded.get(cell.length) ?? { count: 0, samples: new Set<string>() };
  if (samples.size < MAX_SAMPLES) samples.add(cell);
  column.unpadded.set(cell.length, { count: count + 1, samples });
}

/** The genes of whose names a spreadsheet may have made this date. */
function genesOfDate(cell: string): string[] {
  const month = /[a-zä]{3}/i.exec(cell)?.[0].toLowerCase() ?? '';
  const key = { mär: 'mar', mrz: 'mar', okt: 'oct', dez: 'dec' }[month] ?? month;
  return GENES_BY_DATE[key]?.(Number(/\d+/.exec(cell)?.[0])) ?? [];
}

type Alteration = Omit<AlteredCells, 'column' | 'number'>;

/** The dates and numbers that a spreadsheet seems to have made of names of genes; undefined for none. */
function alteredGenes({ heading, cells, genes, dates, floats, altered }: Column): Alteration | undefined {
  const isGeneColumn = GENE_HEADING.test(heading) || (genes >= MIN_GENES && genes >= cells * MIN_SHARE);
  if (dates + floats === 0 || !isGeneColumn || OTHER_HEADING.test(heading)) return undefined;
  const meanings = [...altered].map((cell) => ({ cell, genes: genesOfDate(cell) }));
  // A cell that may stand for two genes is shown before others: people must look it up.
  const [meaning] = meanings.toSorted((one, other) => other.genes.length - one.genes.length);
  if (genes === 0 && !meaning?.genes.length) return undefined;
  const kind = floats === 0 ? 'dates' : dates === 0 ? 'numbers' : 'dates or numbers';
  return { kind, count: dates + floats, cells: [...altered], ...(meaning?.genes.length ? { meaning } : {}) };
}

/** The numbers that seem to have lost their leading zeros, shorter than those that have them. Undefined for none. */
function lostZeros({ heading, padded, unpadded }: Column): Alteration | undefined {
  const [width = 0] = padded;
  // If numbers of several lengths begin with a zero, they are codes, and no zero is lost.
  const isFixedWidth = padded.size === 1 && [...unpadded.keys()].every((length) => length <= width);
  // Of what OTHER_HEADING names, ids of samples and people are padded; dates, counts and labels are not.
  const isNeverPadded = OTHER_HEADING.test(heading) && !/sample|patient|subject/i.test(heading);
  if (!isFixedWidth || isNeverPadded) return undefined;
  const shorter = [...unpadded].filter(([length]) => length < width).map(([, numbers]) => numbers);
  const count = shorter.reduce((sum, numbers) => sum + numbers.count, 0);
  if (count === 0) return undefined;
  const cells = shorter.flatMap(({ samples }) => [...samples]).slice(0, MAX_SAMPLES);
  return { kind: 'zeros', count, cells };
}
