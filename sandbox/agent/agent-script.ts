import type { Readable } from 'node:stream';
import type { Block, StopReason } from './records.ts';

/** The agent's program for one message. Returning completes the reply; throwing fails it. */
export type AgentScript = (turn: AgentTurn) => Promise<void>;

/** A readable attachment. */
export interface AttachedFile {
  id: string;
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  open(): Promise<Readable>;
}

/** A review after the turn. Times are in ms, before the pace is applied. */
export interface ReviewPlan {
  /** Markdown; without findings the review has no message. */
  findings?: string;
  /** Until the findings are written; the review appears only then. */
  afterMs?: number;
  /** From then until it settles; with 0 it appears settled. */
  verifyMs?: number;
  /** If given, the review settles with this message, as `failed` unless `status` says otherwise. */
  error?: string;
  status?: 'completed' | 'failed';
}

/** Thrown into a script whose reply was cancelled. A script may catch it once to clean up. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled';
  constructor() {
    super('The reply was cancelled');
  }
}

/** One message to the agent, and the means to reply. */
export interface AgentTurn {
  readonly task: { id: string; title: string; model: string };
  /** The text of the user's message. */
  readonly text: string;
  readonly files: readonly AttachedFile[];
  /** The task's earlier messages, oldest first. */
  readonly history: readonly { role: string; text: string }[];
  /** Id of the requested skill. */
  readonly skill: string | null;
  /** True after a graceful cancel. */
  readonly cancelling: boolean;
  /** Aborted by any cancel. */
  readonly cancelSignal: AbortSignal;
  /** Aborted by a cancel with `force`, a deletion or the service's stop. */
  readonly signal: AbortSignal;
  /** Factor on the pauses between words, on top of the pace. */
  readonly writingPace: number;

  /** Appends to the reply's text. */
  write(text: string): void;
  /** Writes a tool call, runs it and writes its result. */
  tool(name: string, input: Record<string, unknown>, run: () => Promise<string> | string): Promise<string>;
  /** Appends a block of any type. */
  block(block: Block): void;
  /** Replaces all text of the reply. */
  rewrite(text: string): void;
  /** Adds a result file to the task; also allowed in background work. */
  result(name: string, mime: string, bytes: Uint8Array | string): Promise<void>;
  /** Adds a message of role `system` to the task. */
  system(text: string): void;
  /** Keeps the task running after the reply has ended: for `work` ms, or until it is done. */
  background(work: number | (() => Promise<void>)): void;
  /** Starts a review once the task has settled. */
  review(plan: ReviewPlan): void;
  /** Writes a question and waits for the user's next message; returns its text. */
  ask(question: string): Promise<string>;
  /** Ends the reply as failed. */
  fail(error: string): never;
  /** Ends the reply. */
  end(reason: StopReason): never;
  /** Waits, scaled by the service's pace. @throws TurnCancelled once after a graceful cancel */
  sleep(ms: number): Promise<void>;
}
