import type { ReplyBlock } from './answer.ts';
import { runningTime } from './duration.ts';
import { shorten } from './graphemes.ts';
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

/** The agent's tool calls in their order. */
export function steps(blocks: readonly ReplyBlock[]): Step[] {
  const outputs = new Map<string, string>();
  for (const block of blocks) if (block.kind === 'tool_result') outputs.set(block.toolUseId, block.content);
  return blocks.flatMap((block) => {
    if (block.kind !== 'tool_use') return [];
    const output = outputs.get(block.id);
    return [
      {
        name: toolName(block.name),
        about: telling(block.input),
        input: neutralise(shorten(asText(block.input), DETAIL_MOST)),
        output: output === undefined ? undefined : neutralise(shorten(output, DETAIL_MOST)),
      },
    ];
  });
}

/** The line below a reply that is being written: time, what the agent does now, how much is done. */
export function progressLine(
  blocks: readonly ReplyBlock[],
  options: { elapsedMs: number; status: string },
): ContextBlock {
  const all = steps(blocks);
  const done = all.filter((step) => step.output !== undefined).length;
  const last = blocks.findLast((block) => block.kind !== 'tool_result');
  const current = last?.kind === 'tool_use' ? all.at(-1) : undefined;
  const doing = current
    ? [current.name, current.about].filter((part) => part !== '').join(': ')
    : options.status;
  const count = done === 0 ? '' : `${done} ${done === 1 ? 'step' : 'steps'} done`;
  const tail = [runningTime(options.elapsedMs), count].filter((part) => part !== '').join(' · ');
  return contextLine(`${shorten(doing, LINE_MOST - tail.length - 3)} · ${tail}`);
}

/** What the line becomes at the end: "14 steps in 6 min". */
export function doneLine(blocks: readonly ReplyBlock[], elapsedMs: number): string {
  return stepsDone(steps(blocks).length, elapsedMs);
}

/** A small grey line of plain text. */
export function contextLine(text: string): ContextBlock {
  return { type: 'context', elements: [plainText(neutralise(text))] };
}

/** A tool's name in words: `run_python` is "Run python". */
function toolName(name: string): string {
  const words = name
    .replace(/([\p{Ll}\p{N}])(\p{Lu})/gu, '$1 $2')
    .replace(/[_\-./:\s\p{C}]+/gu, ' ')
    .trim();
  const short = shorten(words === '' ? 'Tool' : words, 60);
  return short.charAt(0).toUpperCase() + short.slice(1);
}

function telling(input: unknown): string {
  if (typeof input === 'string') return oneLine(input);
  if (typeof input !== 'object' || input === null) return '';
  const values = new Map(
    Object.entries(input).filter(([, value]) => typeof value === 'string' && value.trim() !== ''),
  );
  const key = TELLING.find((name) => values.has(name)) ?? values.keys().next().value;
  return key === undefined ? '' : oneLine(String(values.get(key)));
}

function oneLine(text: string): string {
  const line =
    text
      .trim()
      .split('\n')
      .find((part) => part.trim() !== '') ?? '';
  const more = line.trim() !== text.trim();
  const words = line.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return more && words.length < ABOUT_MOST ? `${words} …` : shorten(words, ABOUT_MOST);
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
