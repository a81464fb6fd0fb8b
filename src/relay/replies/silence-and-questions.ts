import type { ContentBlock } from '../../agent/content-blocks.ts';
import type { RelayLimits } from '../../limits.ts';
import * as strings from '../../render/strings/index.ts';
import type { ReadReply } from './reply-blocks.ts';

/** What the agent may be waiting for: `tool`, an answer to its `question`, or nothing that can be told. */
type WaitingFor = 'tool' | 'question' | undefined;

/** What the agent had written at a time: its characters, and what tells it from later text. */
export interface AnswerProgress {
  length: number;
  fingerprint: string;
}

/** Notices when the agent writes nothing new for a while, and what it may be waiting for. */
export class SilenceDetector {
  #fingerprint = '';
  #waiting: WaitingFor;
  /** The run is neither queued nor being cancelled. */
  #isWorking = true;
  #changedAt = performance.now();
  #isSilent = false;
  /** What the agent had written (its fingerprint) when it last got a message. */
  #writtenWhenPassedOn = '';

  /** Takes note of a read. Returns `changed` if it shows anything new, and `silent` once, when a silence begins. */
  onRead({ fingerprint, status, blocks }: ReadReply, limits: SilenceLimits): 'changed' | 'same' | 'silent' {
    if (fingerprint !== this.#fingerprint) {
      this.#fingerprint = fingerprint;
      this.#waiting = waitsFor(blocks);
      this.#isWorking = status !== 'pending' && status !== 'cancelling';
      this.#reset();
      return 'changed';
    }
    const isQuiet = this.#quietMs > silentAfterMs(this.#waiting, limits);
    if (!this.#isWorking || this.#isSilent || !isQuiet) return 'same';
    this.#isSilent = true;
    return 'silent';
  }

  /** What people read of the silence, which goes on; undefined if the agent is not silent. */
  get sentence(): string | undefined {
    if (!this.#isSilent) return undefined;
    return this.#waiting === 'question' ? strings.agentAsks : strings.agentSilent(this.#quietMs);
  }

  get fingerprint(): string {
    return this.#fingerprint;
  }

  /** A message was passed on to the agent, which had written this: its silence starts over. */
  onPassedOn(fingerprint: string): void {
    this.#writtenWhenPassedOn = fingerprint;
    this.#reset();
  }

  #reset(): void {
    this.#changedAt = performance.now();
    this.#isSilent = false;
  }

  /** Whether the run may wait for a person. */
  get isWaiting(): boolean {
    return this.#isSilent || this.#waiting === 'question';
  }

  /**
   * The run's wait for a person; undefined if it does not wait. A silent run waits after a question or, with `isPlan`, after
   * any text, but not while a tool works, nor after a message until it has written more. `name` is the fingerprint of what
   * was written, `quietMs` how long nothing new came. A wait that was recorded as `recordedName`, perhaps by an earlier
   * process, needs no new silence.
   */
  personWait(isPlan: boolean, recordedName?: string): { name: string; quietMs: number } | undefined {
    const isAsked = this.#waiting === 'question' || (isPlan && this.#waiting === undefined);
    const isQuiet = this.#isSilent || this.#fingerprint === recordedName;
    const hasJustGotMessage = this.#fingerprint === this.#writtenWhenPassedOn;
    if (!isAsked || !isQuiet || hasJustGotMessage) return undefined;
    return { name: this.#fingerprint, quietMs: this.#quietMs };
  }

  /** The name of the run's pause, which is a silence, a question, or `passOnMs` of quiet; undefined if there is none. */
  pauseAfter(passOnMs: number): string | undefined {
    if (!this.#isWorking) return undefined;
    if (this.#isSilent) return `silence since ${this.#changedAt}`;
    if (this.#waiting === 'question') return `question ${this.#fingerprint}`;
    const isQuiet = this.#waiting === undefined && this.#quietMs > passOnMs;
    return isQuiet ? `pause ${this.#fingerprint}` : undefined;
  }

  /** For how long (ms) nothing new came; a message passed on to the agent starts this over. */
  get #quietMs(): number {
    return performance.now() - this.#changedAt;
  }
}

/** How long a run writes nothing new until it counts as silent: while a tool works, and otherwise. */
export type SilenceLimits = Pick<RelayLimits, 'silenceMs' | 'waitingMs'>;

/** A question counts as asked after this time (ms) without more text. */
const QUESTION_MS = 3_000;

/** How long (ms) a run writes nothing until it counts as silent: shorter if it may wait for a person. */
export function silentAfterMs(waiting: WaitingFor, { silenceMs, waitingMs }: SilenceLimits): number {
  if (waiting === 'tool') return silenceMs;
  return Math.min(silenceMs, waiting === 'question' ? QUESTION_MS : waitingMs);
}

/** A question mark at the end of a text, in any script; quotes, brackets and emphasis may follow it. */
const QUESTION_AT_END = /(?:[?？؟\u037e՞]|(?<=\p{Script=Greek});)["'”’»)\]*_\s]*$/u;

/** An end with a question mark that asks the reader nothing: of a quotation, or a polite one. */
const QUOTED_OR_POLITE_END =
  /\?["'”’»]\s*$|\b(anything else|any (other |more |further )?questions|does (this|that) help)\b[^.!?]*\?["'”’»)\]*_\s]*$/i;

/** The length of a text's end in which its question is looked for (UTF-16 units). */
const END_LENGTH = 200;

/** Whether the last words of a finished answer ask the reader something. */
export function endsWithQuestion(blocks: readonly ContentBlock[]): boolean {
  const last = blocks.at(-1);
  if (last?.kind !== 'text' || waitsFor(blocks) !== 'question') return false;
  const line = last.text.trimEnd().split('\n').at(-1) ?? '';
  return !line.trimStart().startsWith('>') && !QUOTED_OR_POLITE_END.test(line.slice(-END_LENGTH));
}

/** What the agent may be waiting for after it has written this. */
export function waitsFor(blocks: readonly ContentBlock[]): WaitingFor {
  const answered = new Set(blocks.map((block) => (block.kind === 'tool_result' ? block.toolUseId : '')));
  // Whether a call without an id has ended cannot be told.
  if (blocks.some((block) => block.kind === 'tool_use' && block.id !== '' && !answered.has(block.id)))
    return 'tool';
  const last = blocks.at(-1);
  return last?.kind === 'text' && QUESTION_AT_END.test(last.text.slice(-END_LENGTH)) ? 'question' : undefined;
}
