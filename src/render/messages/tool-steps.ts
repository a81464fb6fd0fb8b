import { neutralizePings } from '../markdown/pings.ts';
import { capitalise, shorten, toOneLine } from '../text/shorten.ts';
import type { ReplyBlock } from './answer-text.ts';

/** A tool call of the agent, as people see it. */
export interface ToolStep {
  name: string;
  /** The most descriptive part of its input in one line, or ''. */
  summary: string;
  /** Its input and output as text, shortened. */
  input: string;
  output: string | undefined;
}

/** Characters kept of one text of a tool call: more than a step ever shows. */
export const MAX_TOOL_TEXT_LENGTH = 2_400;
const MAX_SUMMARY_LENGTH = 80;
const MAX_LISTED_VALUES = 20;
/** Fits a modal's section (3,000 characters) together with its heading. */
const MAX_DETAIL_LENGTH = 1_200;
/** Keys of a tool's input that describe a call, the most descriptive first. */
const SUMMARY_KEYS = [
  'description',
  'title',
  'query',
  'q',
  'question',
  'search',
  'command',
  'cmd',
  'path',
  'file_path',
  'filename',
  'file',
  'url',
  'name',
  'pattern',
  'prompt',
  'text',
  'code',
];

/** A tool call from the service; the name is '' if only its result is known. */
export interface ToolCall {
  name: string;
  input: unknown;
  output: string | undefined;
}

export function toolCalls(blocks: readonly ReplyBlock[]): ToolCall[] {
  const outputs = new Map<string, string>();
  const called = new Set<string>();
  for (const block of blocks) {
    if (block.kind === 'tool_result' && block.toolUseId !== '') outputs.set(block.toolUseId, block.content);
    if (block.kind === 'tool_use' && block.id !== '') called.add(block.id);
  }
  return blocks.flatMap((block) => {
    if (block.kind === 'tool_use')
      return [{ name: block.name, input: block.input, output: outputs.get(block.id) }];
    if (block.kind !== 'tool_result' || called.has(block.toolUseId)) return [];
    return [{ name: '', input: undefined, output: block.content }];
  });
}

/** A call in one line of at most `most` characters: "Search web: BRCA1". */
export function callTitle({ name, input }: Pick<ToolCall, 'name' | 'input'>, most: number): string {
  const parts = [toolName(name), summaryOf(input)].filter((part) => part !== '');
  return shorten(parts.join(': '), most);
}

/** The agent's tool calls in order. */
export function toolSteps(blocks: readonly ReplyBlock[]): ToolStep[] {
  return toolCalls(blocks).map(({ name, input, output }) => ({
    name: toolName(name),
    summary: summaryOf(input),
    input: neutralizePings(shorten(inputText(input), MAX_DETAIL_LENGTH)),
    output:
      output === undefined ? undefined : neutralizePings(shorten(readableValue(output), MAX_DETAIL_LENGTH)),
  }));
}

/** A tool's readable name: `run_python` is "Run python". */
export function toolName(name: string): string {
  const words = toOneLine(name)
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-./:\s\p{C}]+/gu, ' ')
    .trim();
  const short = shorten(words === '' ? 'Tool' : words, 60);
  return capitalise(short);
}

export function summaryOf(input: unknown): string {
  if (typeof input === 'string') return firstLine(input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return '';
  const values = new Map(
    Object.entries(input).flatMap(([key, value]) => {
      const text = Array.isArray(value) ? joinStrings(value) : value;
      return typeof text === 'string' && text.trim() !== '' ? [[key, text] as const] : [];
    }),
  );
  const key = SUMMARY_KEYS.find((name) => values.has(name)) ?? values.keys().next().value;
  return key === undefined ? '' : firstLine(values.get(key) ?? '');
}

/** A list of strings, such as a command with its arguments, as one text; '' for other lists. */
function joinStrings(values: readonly unknown[]): string {
  const first = values.slice(0, MAX_LISTED_VALUES);
  return first.every((value) => typeof value === 'string') ? first.join(' ') : '';
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const more = line.trim() !== text.trim();
  const first = toOneLine(line.replace(/\s+/g, ' '));
  return more && first.length < MAX_SUMMARY_LENGTH ? `${first} …` : shorten(first, MAX_SUMMARY_LENGTH);
}

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
function readableValue(value: unknown, levels?: number): string {
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
  if (!/^\s*[[{]/.test(text)) return text;
  const whole = parseJson(text);
  if (whole !== undefined) return readableValue(whole, levels);
  const records = text.slice(0, text.lastIndexOf('},') + 1);
  const cut = levels === undefined ? (parseJson(`${records}]`) ?? parseJson(`${records}]}`)) : undefined;
  return cut === undefined ? text : `${readableValue(cut)}\n…`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
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
