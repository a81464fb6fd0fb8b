import type { TaskCardBlock, URLSourceElement } from '@slack/types';
import { blockTextLength, type PlanBlock } from '../blocks/slack-blocks.ts';
import { neutralizePings } from '../markdown/pings.ts';
import { earlierSteps, stepsDone } from '../strings/index.ts';
import { shorten } from '../text/shorten.ts';
import { counted, formatRunningTime } from '../text/units.ts';
import type { ReplyBlock } from './answer-text.ts';
import { callTitle, MAX_TOOL_TEXT_LENGTH, type ToolCall, toolCalls } from './tool-steps.ts';

const MAX_LINE_LENGTH = 180;

/** The line below a growing reply: what the agent is doing, for how long, and how many steps are done. */
export function progressLine(
  blocks: readonly ReplyBlock[],
  options: { elapsedMs: number; status: string },
): string {
  const tail = progressTail(blocks, options.elapsedMs);
  const most = MAX_LINE_LENGTH - tail.length - 3;
  const last = blocks.findLast((block) => block.kind !== 'tool_result');
  const doing = last?.kind === 'tool_use' ? callTitle(last, most) : shorten(options.status, most);
  return `${doing} · ${tail}`;
}

/** For how long the agent works, and how many steps are done: "1 min · 2 steps done". */
export function progressTail(blocks: readonly ReplyBlock[], elapsedMs: number): string {
  const done = toolCalls(blocks).filter((call) => call.output !== undefined).length;
  const count = done === 0 ? '' : `${counted(done, 'step')} done`;
  return [formatRunningTime(elapsedMs), count].filter((part) => part !== '').join(' · ');
}

/** The line below a finished reply: "14 steps in 6 min". */
export function doneLine(blocks: readonly ReplyBlock[], elapsedMs: number): string {
  return stepsDone(toolCalls(blocks).length, elapsedMs);
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
const MAX_URL_LENGTH = 500;
const ADDRESS = /https?:\/\/[^\s<>()[\]{}|"'`*\\\u2060]+/g;
/** How tools report failures: the service has no field for it. */
const FAILED_OUTPUT =
  /^\W{0,3}(?:\w*(?:error|exception)\b|traceback \(most recent|failed\b|fatal\b|command failed)/i;

/**
 * The steps of a run as a plan, the latest last, with the older ones in one row; undefined for fewer than two. Its ids
 * stay the same as the run goes on, so that Slack keeps open what people opened.
 */
export function planBlock(
  blocks: readonly ReplyBlock[],
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

function olderRow(calls: readonly ToolCall[]): TaskCardBlock {
  const states = calls.map(stateOf);
  const failed = states.filter((state) => state === 'error').length;
  const status = states.includes('in_progress') ? 'in_progress' : 'complete';
  return { type: 'task_card', task_id: 'earlier', title: earlierSteps(calls.length, failed), status };
}

function stateOf({ output }: ToolCall): 'in_progress' | 'complete' | 'error' {
  if (output === undefined) return 'in_progress';
  return FAILED_OUTPUT.test(output.slice(0, 200)) ? 'error' : 'complete';
}

/** Adds the addresses that the outputs name, those of the latest steps first, as far as the plan has room. */
function addSources(plan: PlanBlock, calls: readonly ToolCall[], rows: readonly TaskCardBlock[]): void {
  let room = MAX_PLAN_LENGTH - blockTextLength([plan]);
  for (const [at, { output = '' }] of [...calls.entries()].reverse()) {
    const sources = sourcesIn(output);
    room -= sources.reduce((sum, { text }) => sum + text.length, 0);
    if (room < 0) return;
    const row = rows[at];
    if (row !== undefined && sources.length > 0) row.sources = sources;
  }
}

/** The label is the address itself, with its whole host: an agent cannot hide where a link leads. */
function sourcesIn(output: string): URLSourceElement[] {
  // An output that was cut off may end in the middle of an address.
  const end = output.length < MAX_TOOL_TEXT_LENGTH ? output.length : output.length - 1;
  const whole = [...output.matchAll(ADDRESS)].filter(({ index, 0: url }) => index + url.length <= end);
  const found = whole.map(([url]) => url.replace(/[.,;:!?]+$/, ''));
  const urls = [...new Set(found)].filter((url) => url.length <= MAX_URL_LENGTH && hasPlainHost(url));
  return urls.slice(0, MAX_SOURCES).map((url) => ({ type: 'url', url, text: sourceLabel(url) }));
}

function hasPlainHost(url: string): boolean {
  const { username, password } = URL.parse(url) ?? { username: url };
  return username === '' && password === '';
}

function sourceLabel(url: string): string {
  const host = new URL(url).host.replace(/^www\./, '');
  const most = MAX_SOURCE_LABEL_LENGTH;
  if (host.length >= most) return `…${host.slice(1 - most)}`;
  return shorten(host + url.replace(/^https?:\/\/[^/?#]*|\/$/g, ''), most);
}
