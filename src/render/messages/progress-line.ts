import { stepsDone } from '../strings/index.ts';
import { formatRunningTime } from '../text/duration.ts';
import { shorten } from '../text/graphemes.ts';
import type { ReplyBlock } from './answer-text.ts';
import { callTitle, toolCalls } from './tool-steps.ts';

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
  const count = done === 0 ? '' : `${done} ${done === 1 ? 'step' : 'steps'} done`;
  return [formatRunningTime(elapsedMs), count].filter((part) => part !== '').join(' · ');
}

/** The line below a finished reply: "14 steps in 6 min". */
export function doneLine(blocks: readonly ReplyBlock[], elapsedMs: number): string {
  return stepsDone(toolCalls(blocks).length, elapsedMs);
}
