import { type ContextBlock, contextLineBlock } from '../blocks/slack-blocks.ts';
import { stepsDone } from '../strings/index.ts';
import { formatRunningTime } from '../text/duration.ts';
import { shorten } from '../text/graphemes.ts';
import type { ReplyBlock } from './answer-text.ts';
import { summaryOf, toolCalls, toolName } from './tool-steps.ts';

const MAX_LINE_LENGTH = 180;
/** The line below a growing reply: what the agent is doing, for how long, and how many steps are done. */
export function progressLine(
  blocks: readonly ReplyBlock[],
  options: { elapsedMs: number; status: string },
): ContextBlock {
  const done = toolCalls(blocks).filter((call) => call.output !== undefined).length;
  const last = blocks.findLast((block) => block.kind !== 'tool_result');
  const doing =
    last?.kind === 'tool_use'
      ? [toolName(last.name), summaryOf(last.input)].filter((part) => part !== '').join(': ')
      : options.status;
  const count = done === 0 ? '' : `${done} ${done === 1 ? 'step' : 'steps'} done`;
  const tail = [formatRunningTime(options.elapsedMs), count].filter((part) => part !== '').join(' · ');
  return contextLineBlock(`${shorten(doing, MAX_LINE_LENGTH - tail.length - 3)} · ${tail}`);
}

/** The line below a finished reply: "14 steps in 6 min". */
export function doneLine(blocks: readonly ReplyBlock[], elapsedMs: number): string {
  return stepsDone(toolCalls(blocks).length, elapsedMs);
}
