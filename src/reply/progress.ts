import type { ReplyBlock } from './answer.ts';
import { runningTime } from './duration.ts';
import { shorten } from './graphemes.ts';
import { oneLine } from './one-line.ts';
import { neutralise } from './pings.ts';
import { type ContextBlock, plainText } from './slack-blocks.ts';
import { stepsDone } from './words.ts';

/** A tool call of the agent, for people who want to see what it did. */
export interface Step {
  name: string;
  /** The telling part of its input in one line; may be empty. */
  about: string;
  /** Its input and output as text, cut. */
  input: string;
  output: string | undefined;
}

/** Characters of a whole progress line. */
const LINE_MOST = 180;
const ABOUT_MOST = 80;
const LISTED_MOST = 20;
/** Fits a modal's section (3,000 characters) together with its heading. */
const DETAIL_MOST = 1_200;
/** Keys of a tool's input that say best what a call is about, the best first. */
const TELLING = [
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

/** A tool call as the service tells it; of one that it tells only the result of, the name is ''. */
interface Call {
  name: string;
  input: unknown;
  output: string | undefined;
}

function calls(blocks: readonly ReplyBlock[]): Call[] {
  const outputs = new Map<string, string>();
  const called = new Set<string>();
  for (const block of blocks) {
    if (block.kind === 'tool_result') outputs.set(block.toolUseId, block.content);
    if (block.kind === 'tool_use') called.add(block.id);
  }
  return blocks.flatMap((block) => {
    if (block.kind === 'tool_use')
      return [{ name: block.name, input: block.input, output: outputs.get(block.id) }];
    if (block.kind !== 'tool_result' || called.has(block.toolUseId)) return [];
    return [{ name: '', input: undefined, output: block.content }];
  });
}

/** The agent's tool calls in their order. */
export function steps(blocks: readonly ReplyBlock[]): Step[] {
  return calls(blocks).map(({ name, input, output }) => ({
    name: toolName(name),
    about: telling(input),
    input: neutralise(shorten(asText(input), DETAIL_MOST)),
    output: output === undefined ? undefined : neutralise(shorten(output, DETAIL_MOST)),
  }));
}

/** The line below a reply that is being written: time, what the agent does now, how much is done. */
export function progressLine(
  blocks: readonly ReplyBlock[],
  options: { elapsedMs: number; status: string },
): ContextBlock {
  const done = calls(blocks).filter((call) => call.output !== undefined).length;
  const last = blocks.findLast((block) => block.kind !== 'tool_result');
  const doing =
    last?.kind === 'tool_use'
      ? [toolName(last.name), telling(last.input)].filter((part) => part !== '').join(': ')
      : options.status;
  const count = done === 0 ? '' : `${done} ${done === 1 ? 'step' : 'steps'} done`;
  const tail = [runningTime(options.elapsedMs), count].filter((part) => part !== '').join(' · ');
  return contextLine(`${shorten(doing, LINE_MOST - tail.length - 3)} · ${tail}`);
}

/** What the line becomes at the end: "14 steps in 6 min". */
export function doneLine(blocks: readonly ReplyBlock[], elapsedMs: number): string {
  return stepsDone(calls(blocks).length, elapsedMs);
}

/** A small grey line of plain text. */
export function contextLine(text: string): ContextBlock {
  return { type: 'context', elements: [plainText(neutralise(text))] };
}

/** A tool's name in words: `run_python` is "Run python". */
function toolName(name: string): string {
  const words = oneLine(name)
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-./:\s\p{C}]+/gu, ' ')
    .trim();
  const short = shorten(words === '' ? 'Tool' : words, 60);
  return short.charAt(0).toUpperCase() + short.slice(1);
}

function telling(input: unknown): string {
  if (typeof input === 'string') return firstLine(input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return '';
  const values = new Map(
    Object.entries(input).flatMap(([key, value]) => {
      const said = Array.isArray(value) ? listed(value) : value;
      return typeof said === 'string' && said.trim() !== '' ? [[key, said] as const] : [];
    }),
  );
  const key = TELLING.find((name) => values.has(name)) ?? values.keys().next().value;
  return key === undefined ? '' : firstLine(values.get(key) ?? '');
}

/** A command with its arguments, or a few addresses. */
function listed(values: readonly unknown[]): string {
  const first = values.slice(0, LISTED_MOST);
  return first.every((value) => typeof value === 'string') ? first.join(' ') : '';
}

function firstLine(text: string): string {
  const [line = ''] = text.trim().split('\n', 1);
  const more = line.trim() !== text.trim();
  const said = oneLine(line.replace(/\s+/g, ' '));
  return more && said.length < ABOUT_MOST ? `${said} …` : shorten(said, ABOUT_MOST);
}

/** An input as people can read it: a single text as it is, several fields one below the other. */
function asText(input: unknown): string {
  if (typeof input === 'string') return input;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return asJson(input);
  const fields = Object.entries(input);
  const [only] = fields;
  if (fields.length === 1 && typeof only?.[1] === 'string') return only[1];
  return fields.map(([key, value]) => field(key, value)).join('\n');
}

function field(key: string, value: unknown): string {
  const text = typeof value === 'string' ? value : asJson(value);
  return `${key}:${text.includes('\n') ? '\n' : ' '}${text}`;
}

function asJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? '';
}
