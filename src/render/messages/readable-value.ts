import { shorten } from '../text/graphemes.ts';

const MAX_ROWS = 20;
const MAX_CELL_LENGTH = 30;

/** A value of a tool call as text: fields one below the other, and lists of records as a table. */
export function readableValue(value: unknown): string {
  if (typeof value === 'string') return readableText(value);
  if (Array.isArray(value)) return readableList(value);
  if (value === undefined || value === null) return '';
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).map(([key, one]) => [key, readableValue(one)] as const);
  return fields.map(([key, text]) => `${key}:${text.includes('\n') ? `\n${text}` : ` ${text}`}`).join('\n');
}

/** A text as it is; one that holds JSON like the value that it stands for. Of records that were cut, those before the cut. */
function readableText(text: string): string {
  if (!/^\s*[[{]/.test(text)) return text;
  const whole = parseJson(text);
  if (whole !== undefined) return readableValue(whole);
  const records = text.slice(0, text.lastIndexOf('},') + 1);
  const cut = parseJson(`${records}]`) ?? parseJson(`${records}]}`);
  return cut === undefined ? text : `${readableValue(cut)}\n…`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function readableList(list: readonly unknown[]): string {
  const records = list.flatMap((one) => (typeof one === 'object' && one && !Array.isArray(one) ? [one] : []));
  if (records.length > 0 && records.length === list.length) return tableOf(records);
  return list.map((one) => `- ${readableValue(one).replaceAll('\n', '\n  ')}`).join('\n');
}

function tableOf(records: readonly object[]): string {
  const shown = records.slice(0, MAX_ROWS).map((record) => new Map(Object.entries(record)));
  const keys = [...new Set(shown.flatMap((record) => [...record.keys()]))];
  const cell = (value: unknown) => shorten(readableValue(value).replace(/\s+/g, ' '), MAX_CELL_LENGTH);
  const rows = [keys, ...shown.map((record) => keys.map((key) => cell(record.get(key))))];
  const widths = keys.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) => row.map((text, column) => text.padEnd(widths[column] ?? 0)).join('  '));
  return [...lines.map((line) => line.trimEnd()), ...(records.length > shown.length ? ['…'] : [])].join('\n');
}
