import { withoutColours } from '../markdown/embedded-data.ts';
import { shorten } from '../text-format.ts';

/** Characters kept of one text of a tool call: more than a step ever shows. */
export const MAX_TOOL_TEXT_LENGTH = 2_400;

/** An input in readable form: a single text verbatim. */
export function inputText(input: unknown, readable = readableValue): string {
  const [only, ...more] = typeof input === 'object' && input !== null ? Object.values(input) : [];
  return more.length === 0 && typeof only === 'string' && !Array.isArray(input) ? only : readable(input);
}

const MAX_ROWS = 20;
const MAX_CELL_LENGTH = 30;
/** Levels of a value that is shown whole, and columns of its tables. */
const MAX_LEVELS = 20;
const MAX_COLUMNS = 20;

/** A value of a tool call as text, without leaving anything out: as it is if it is nested deeper than anyone reads. */
export function wholeValue(value: unknown): string {
  try {
    return readableValue(value, MAX_LEVELS);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return typeof value === 'string' ? value : JSON.stringify(value);
  }
}

/**
 * A value of a tool call as text: fields one below the other, and lists of records as a table; long ones are cut unless
 * `levels` are given, below which it throws a RangeError.
 */
export function readableValue(value: unknown, levels?: number): string {
  if (levels === 0) throw new RangeError('nested too deeply');
  if (typeof value === 'string') return readableText(value, levels);
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return JSON.stringify(value);
  const inner = levels === undefined ? undefined : levels - 1;
  if (Array.isArray(value)) return readableList(value, inner);
  const fields = Object.entries(value).map(([key, one]) => [key, readableValue(one, inner)] as const);
  return fields.map(([key, text]) => `${key}:${text.includes('\n') ? `\n${text}` : ` ${text}`}`).join('\n');
}

/** A text as it is; one that holds JSON like the value that it stands for. Of records that were cut, those before the cut. */
function readableText(text: string, levels?: number): string {
  if (!/^\s*[[{]/.test(text)) return withoutColours(text);
  const whole = parseJson(text);
  if (whole !== undefined) return readableValue(whole, levels);
  const records = text.slice(0, text.lastIndexOf('},') + 1);
  const cut = levels === undefined ? (parseJson(`${records}]`) ?? parseJson(`${records}]}`)) : undefined;
  return cut === undefined ? text : `${readableValue(cut)}\n…`;
}

/** Undefined for what is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text, asWritten);
  } catch {
    return undefined;
  }
}

/** A number as its text where it would read otherwise, such as 1e-400, 1.0 or an id of 20 digits. */
function asWritten(_key: string, value: unknown, context?: { source?: string }): unknown {
  const { source = '' } = context ?? {};
  return typeof value === 'number' && source !== '' && String(value) !== source ? source : value;
}

function readableList(list: readonly unknown[], levels?: number): string {
  const records = list.flatMap((one) => (typeof one === 'object' && one && !Array.isArray(one) ? [one] : []));
  const isTable = records.length > 0 && records.length === list.length;
  const table = isTable ? tableOf(records, levels) : undefined;
  return table ?? list.map((one) => `- ${readableValue(one, levels).replaceAll('\n', '\n  ')}`).join('\n');
}

/** Undefined for a table that would have to be cut and is to be whole. */
function tableOf(records: readonly object[], levels?: number): string | undefined {
  const isWhole = levels !== undefined;
  const shown = records.slice(0, isWhole ? undefined : MAX_ROWS).map((one) => new Map(Object.entries(one)));
  const keys = [...new Set(shown.flatMap((record) => [...record.keys()]))];
  if (isWhole && keys.length > MAX_COLUMNS) return undefined;
  const texts = shown.map((record) => keys.map((key) => readableValue(record.get(key), levels)));
  if (isWhole && [keys, ...texts].flat().some((text) => text.length > MAX_CELL_LENGTH || text.includes('\n')))
    return undefined;
  const cell = (text: string) => shorten(text.replace(/\s+/g, ' '), MAX_CELL_LENGTH);
  const rows = [keys, ...texts.map((row) => row.map(cell))];
  const widths = keys.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return [...lines.map((line) => line.trimEnd()), ...(records.length > shown.length ? ['…'] : [])].join('\n');
}
