import type { ReplyBlock } from '../../render/messages/answer-text.ts';

/** Notices when the agent writes nothing new for a while. */
export class SilenceDetector {
  #changedAt = performance.now();
  #isSilent = false;
  #count = 0;

  /** The number of the current silence, from 1; undefined while the agent writes. */
  get current(): number | undefined {
    return this.#isSilent ? this.#count : undefined;
  }

  /** Since when there is nothing new (ms). */
  get quietMs(): number {
    return performance.now() - this.#changedAt;
  }

  /** The agent wrote something, or got something to answer: the silence starts over. */
  reset(): void {
    this.#changedAt = performance.now();
    this.#isSilent = false;
  }

  /** Whether a silence of `silenceMs` begins now; true once for each silence. */
  begins(silenceMs: number): boolean {
    if (this.#isSilent || this.quietMs <= silenceMs) return false;
    this.#isSilent = true;
    this.#count += 1;
    return true;
  }
}

/** How long a run writes nothing new (ms) until it counts as silent. */
export interface SilenceLimits {
  /** While a tool works. */
  silenceMs: number;
  /** Otherwise: it may be waiting for a person. */
  waitingMs: number;
}

/** A question counts as asked after this time (ms) without more text. */
const QUESTION_MS = 3_000;

/** How long a run that may be waiting for this writes nothing new (ms) until it counts as silent. */
export function silenceBefore(
  waiting: ReturnType<typeof waitsFor>,
  { silenceMs, waitingMs }: SilenceLimits,
): number {
  if (waiting === 'tool') return silenceMs;
  return Math.min(silenceMs, waiting === 'question' ? QUESTION_MS : waitingMs);
}

/** A question mark at the end of a text, in any script; quotes, brackets and emphasis may follow it. */
const QUESTION_AT_END = /[?？؟;՞]["'”’»)\]*_\s]*$/u;

/** What the agent may be waiting for: `tool`, an answer to its `question`, or nothing that can be told. */
export function waitsFor(blocks: readonly ReplyBlock[]): 'tool' | 'question' | undefined {
  const answered = new Set(blocks.map((block) => (block.kind === 'tool_result' ? block.toolUseId : '')));
  // Whether a call without an id has ended cannot be told.
  if (blocks.some((block) => block.kind === 'tool_use' && block.id !== '' && !answered.has(block.id)))
    return 'tool';
  const last = blocks.at(-1);
  return last?.kind === 'text' && QUESTION_AT_END.test(last.text.slice(-200)) ? 'question' : undefined;
}
