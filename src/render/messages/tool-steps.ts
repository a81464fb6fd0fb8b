import type { TaskCardBlock } from '@slack/types';
import type { ContentBlock } from '../../agent/content-blocks.ts';
import { blockTextLength, type PlanBlock } from '../blocks/slack-blocks.ts';
import { neutralizePings } from '../markdown/pings.ts';
import { earlierSteps, modelInUse, stepsDone } from '../strings/index.ts';
import { counted, formatRunningTime, JUST_STARTED, shorten, toOneLine } from '../text-format.ts';
import { addressesIn } from './sources.ts';
import { toolName } from './tool-names.ts';
import { inputText, MAX_TOOL_TEXT_LENGTH, parseJson, readableValue } from './tool-values.ts';

/** A tool call of the agent, as people see it. */
export interface ToolStep {
  name: string;
  /** The most descriptive part of its input in one line, or ''. */
  summary: string;
  /** Its input and output as text, shortened. */
  input: string;
  output: string | undefined;
}

const MAX_SUMMARY_LENGTH = 80;
const MAX_LISTED_VALUES = 20;
/** Fits a modal's section (3,000 characters) together with its heading. */
const MAX_DETAIL_LENGTH = 1_200;
/** Keys of a tool's input that describe a call, the most descriptive first. */
const SUMMARY_KEYS =
  'description title query q question search command cmd path file_path filename file url name pattern prompt text code'.split(
    ' ',
  );

/** A tool call from the service; the name is '' if only its result is known. */
export interface ToolCall {
  name: string;
  input: unknown;
  output: string | undefined;
  /** Whether it failed, if the service says so. */
  isError?: boolean | undefined;
}

export function toolCalls(blocks: readonly ContentBlock[]): ToolCall[] {
  const outcomes = new Map<string, Pick<ToolCall, 'output' | 'isError'>>();
  const called = new Set<string>();
  for (const block of blocks) {
    if (block.kind === 'tool_result' && block.toolUseId !== '')
      outcomes.set(block.toolUseId, outcomeIn(block));
    if (block.kind === 'tool_use' && block.id !== '') called.add(block.id);
  }
  return blocks.flatMap((block) => {
    if (block.kind === 'tool_use')
      return [{ name: block.name, input: block.input, output: undefined, ...outcomes.get(block.id) }];
    if (block.kind !== 'tool_result' || called.has(block.toolUseId)) return [];
    return [{ name: '', input: undefined, ...outcomeIn(block) }];
  });
}

function outcomeIn({ content, isError }: ContentBlock & { kind: 'tool_result' }) {
  return { output: content, isError };
}

/** A call in one line of at most `most` characters: "Search web: BRCA1", or "Searched web: BRCA1" once it has succeeded. */
export function callTitle(call: Pick<ToolCall, 'name' | 'input'> & Partial<ToolCall>, most: number): string {
  const parts = [toolName(call.name, hasSucceeded(call)), summaryOf(call.input)].filter(
    (part) => part !== '',
  );
  return shorten(parts.join(': '), most);
}

/** The agent's tool calls in order. */
export function toolSteps(blocks: readonly ContentBlock[]): ToolStep[] {
  return toolCalls(blocks).map((call) => ({
    name: toolName(call.name, hasSucceeded(call)),
    summary: summaryOf(call.input),
    input: neutralizePings(shorten(inputText(call.input), MAX_DETAIL_LENGTH)),
    output:
      call.output === undefined
        ? undefined
        : neutralizePings(shorten(readableValue(call.output), MAX_DETAIL_LENGTH)),
  }));
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

const MAX_LINE_LENGTH = 180;

/** The line below a growing reply: what the agent is doing, for how long, and how many steps are done. */
export function progressLine(
  blocks: readonly ContentBlock[],
  options: { elapsedMs: number; status: string },
): string {
  const tail = progressTail(blocks, options.elapsedMs);
  const most = MAX_LINE_LENGTH - tail.length - 3;
  const last = blocks.findLast((block) => block.kind !== 'tool_result');
  const doing = last?.kind === 'tool_use' ? callTitle(last, most) : shorten(options.status, most);
  return `${doing} · ${tail}`;
}

/** For how long the agent works, and how many steps are done: "1 min · 2 steps done". */
function progressTail(blocks: readonly ContentBlock[], elapsedMs: number): string {
  const done = toolCalls(blocks).filter((call) => call.output !== undefined).length;
  const running = formatRunningTime(elapsedMs);
  if (done === 0) return running;
  const count = `${counted(done, 'step')} done`;
  return running === JUST_STARTED ? count : `${running} · ${count}`;
}

/** The line below a finished reply: "14 steps in 6 min · Max model"; no model if it is not known. */
export function doneLine(blocks: readonly ContentBlock[], elapsedMs: number, model?: string | null): string {
  const done = stepsDone(toolCalls(blocks).length, elapsedMs);
  return model === undefined ? done : `${done} · ${modelInUse(model)}`;
}

/** A plan of one step would only repeat the progress line. */
const MIN_STEPS = 2;
/** Rows of a plan; Slack publishes no limit, and more than these are hard to follow. */
const MAX_ROWS = 8;
/** Characters of a plan: the answer has the rest of its message. */
const MAX_PLAN_LENGTH = 1_500;
/** Characters of a row (longer ones are cut off in Slack's apps). */
const MAX_TITLE_LENGTH = 120;
const MAX_SOURCES = 3;
const MAX_SOURCE_LABEL_LENGTH = 40;

/**
 * The steps of a run as a plan, the latest last, with the older ones in one row; undefined for fewer than two. Its ids
 * stay the same as the run goes on, so that Slack keeps open what people opened.
 */
export function planBlock(
  blocks: readonly ContentBlock[],
  options: { elapsedMs: number; status: string },
): PlanBlock | undefined {
  const calls = toolCalls(blocks);
  if (calls.length < MIN_STEPS) return undefined;
  const older = calls.length > MAX_ROWS ? calls.length - MAX_ROWS + 1 : 0;
  const rows = calls.slice(older).map((call, at) => stepRow(call, older + at + 1));
  const title = `${options.status} · ${progressTail(blocks, options.elapsedMs)}`;
  const tasks = older === 0 ? rows : [olderRow(calls.slice(0, older)), ...rows];
  const plan = { type: 'plan' as const, block_id: 'plan', title: shorten(title, MAX_TITLE_LENGTH), tasks };
  addSources(plan, calls.slice(older), rows);
  return plan;
}

function stepRow(call: ToolCall, number: number): TaskCardBlock {
  const title = neutralizePings(callTitle(call, MAX_TITLE_LENGTH));
  return { type: 'task_card', task_id: `step-${number}`, title, status: stateOf(call) };
}

/** Has the sign of a failure if one of its steps failed: it is all that people see of them. */
function olderRow(calls: readonly ToolCall[]): TaskCardBlock {
  const states = calls.map(stateOf);
  const failed = states.filter((state) => state === 'error').length;
  const ended = failed === 0 ? 'complete' : 'error';
  const status = states.includes('in_progress') ? 'in_progress' : ended;
  return { type: 'task_card', task_id: 'earlier', title: earlierSteps(calls.length, failed), status };
}

function hasSucceeded({ output, isError }: Partial<ToolCall>): boolean {
  return output !== undefined && !hasFailed(output, isError);
}

function stateOf(call: ToolCall): 'in_progress' | 'complete' | 'error' {
  if (call.output === undefined) return 'in_progress';
  return hasFailed(call.output, call.isError) ? 'error' : 'complete';
}

/** First words of outputs that tell of a failure. Rather too few: no result is to look like a failure. */
const FAILURES = [
  /^(?:(?:fatal|server|syntax|runtime) )?(?:[a-z\d.]*(?:error|exception)|fatal|failed|failure)\W{0,2}[:\]]/i,
  /^(?:error|exception|failed)\W*$/i,
  /^(?:error|exception) (?:(?:while|when|during|from|calling|executing|loading|opening|parsing|reading|running)\b|in [\w.:]+\()/i,
  /^failed (?:with|to (?!reject))\b/i,
  /^(?:the )?(?:call|command|connection|download|execution|operation|query|request|tool|upload) (?:failed|timed out)\b/i,
  /^(?:timed out\b|traceback \(most recent)/i,
  /^http(?:\/[\d.]+)?(?: status| error)?(?: code)?:? [45]\d\d\b/i,
  /^[45]\d\d (?:bad (?:gateway|request)|(?:client|server|internal server) error|forbidden|gateway time|not found|service unavailable|too many requests|unauthorized)/i,
  /^(?:could not|couldn't|cannot|can't|unable to) (?:access|connect|create|download|execute|fetch|import|load|open|parse|process|reach|read|resolve|retrieve|run|save|start|upload|write)\b/i,
];
/** What follows a colon and is no reason: a measured error, or none. */
const NO_REASON =
  /^[^:\]]*[:\]]\W*(?:(?![45]\d\d\b(?!\.\d))\d|(?:none|null|nil|n\/a)\b|no errors?\b|(?:no|ok)\W*(?:$|\n))/i;
/** The first field of an object in JSON, which may have been cut off in its text. */
const FIRST_FIELD = /^\s*\{\s*"\w+"\s*:\s*(?:"(?:[^"\\]|\\.)*"?|\w+)/;
const HEAD_LENGTH = 200;

/** Whether a step failed: as the service says, or else by how tools report it in their outputs. */
function hasFailed(output: string, isError: boolean | undefined): boolean {
  if (isError !== undefined) return isError;
  if (!/^\s*\{/.test(output)) {
    // After any marks, but not the border of a table, nor in a list of records.
    const words = output.slice(0, HEAD_LENGTH).replace(/^[^\p{L}\p{N}|{]+/u, '');
    return !NO_REASON.test(words) && FAILURES.some((failure) => failure.test(words));
  }
  const text = output.slice(0, MAX_TOOL_TEXT_LENGTH);
  const [first] = FIRST_FIELD.exec(text) ?? [];
  const value = parseJson(text) ?? parseJson(`${first}}`) ?? parseJson(`${first}"}`);
  const fields = new Map(Object.entries(value ?? {}));
  return (
    ['error', 'errors', 'isError', 'is_error'].some((name) => isReason(fields.get(name))) ||
    ['error', 'failed'].includes(fields.get('status')) ||
    ['success', 'ok'].some((name) => fields.get(name) === false)
  );
}

/** Whether the value of a field `error` tells of a failure: a number may be a measured one, or a count. */
function isReason(value: unknown): boolean {
  if (typeof value === 'string')
    return /\p{L}{2}/u.test(value) && !/^\W*(?:none|null|nil|nan|false|no|ok|no errors?)\W*$/i.test(value);
  if (typeof value === 'object' && value !== null) return Object.values(value).some(isReason);
  return value === true;
}

/** Adds the addresses that the outputs name, those of the latest steps first, as far as the plan has room. */
function addSources(plan: PlanBlock, calls: readonly ToolCall[], rows: readonly TaskCardBlock[]): void {
  let room = MAX_PLAN_LENGTH - blockTextLength([plan]);
  for (const [at, { output = '' }] of [...calls.entries()].reverse()) {
    const urls = addressesIn(output, MAX_SOURCES);
    const sources = urls.map((url) => ({ type: 'url' as const, url, text: sourceLabel(url) }));
    room -= sources.reduce((sum, { text }) => sum + text.length, 0);
    if (room < 0) return;
    const row = rows[at];
    if (row !== undefined && sources.length > 0) row.sources = sources;
  }
}

/** The address itself, with its whole host: an agent cannot hide where a link leads. */
function sourceLabel(url: string): string {
  const host = new URL(url).host.replace(/^www\./, '');
  const most = MAX_SOURCE_LABEL_LENGTH;
  if (host.length >= most) return `…${host.slice(1 - most)}`;
  return shorten(host + url.replace(/^https?:\/\/[^/?#]*|\/$/g, ''), most);
}
