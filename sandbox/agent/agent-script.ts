import type { Readable } from 'node:stream';
import type { Block, StopReason } from './records.ts';

/** What the agent does with one message. Returning ends the reply; throwing fails it. */
export type AgentScript = (turn: AgentTurn) => Promise<void>;

/** A file that was attached and could be read. */
export interface AttachedFile {
  id: string;
  name: string;
  mime: string;
  /** Bytes. */
  size: number;
  open(): Promise<Readable>;
}

/** What a review does after the turn. Times are in ms, before the pace is applied. */
export interface ReviewPlan {
  /** Markdown; without it the review fails with no message. */
  findings?: string;
  /** Until the findings are written: only then does the review appear. */
  afterMs?: number;
  /** From there until it settles; 0 lets it appear settled. */
  verifyMs?: number;
  /** Makes it settle as `failed`. */
  error?: string;
}

/** Thrown into a script whose reply was cancelled. A script that tidies up may catch it once. */
export class TurnCancelled extends Error {
  override readonly name = 'TurnCancelled';
  constructor() {
    super('The reply was cancelled');
  }
}

/** One message to the agent and the reply that it writes. */
export interface AgentTurn {
  readonly task: { id: string; title: string; model: string };
  /** The text of the user's message. */
  readonly text: string;
  readonly files: readonly AttachedFile[];
  /** The task's earlier messages, oldest first. */
  readonly history: readonly { role: string; text: string }[];
  /** Id of the skill that was asked for. */
  readonly skill: string | null;
  /** True after a graceful cancel. */
  readonly cancelling: boolean;
  /** Aborted by any cancel. */
  readonly cancelSignal: AbortSignal;
  /** Aborted by a cancel with `force`, a deletion or the end of the service. */
  readonly signal: AbortSignal;

  /** Adds to the reply's text. */
  write(text: string): void;
  /** Writes a tool call, runs it, writes its result. */
  tool(name: string, input: Record<string, unknown>, run: () => Promise<string> | string): Promise<string>;
  /** Adds a block of any kind. */
  block(block: Block): void;
  /** Replaces all text that was written by this. */
  rewrite(text: string): void;
  /** Leaves a file under the task; also allowed in background work. */
  result(name: string, mime: string, bytes: Uint8Array | string): Promise<void>;
  /** Adds a message of role `system` to the task. */
  system(text: string): void;
  /** Keeps the task running after the reply has ended: for `work` ms, or until it is done. */
  background(work: number | (() => Promise<void>)): void;
  /** Starts a review once the task has settled. */
  review(plan: ReviewPlan): void;
  /** Asks the user and waits, silent and running, for the next message; gives its text. */
  ask(question: string): Promise<string>;
  /** Ends the reply as failed. */
  fail(error: string): never;
  /** Ends the reply. */
  end(reason: StopReason): never;
  /** Waits, scaled by the service's pace. Throws `TurnCancelled` once after a graceful cancel. */
  sleep(ms: number): Promise<void>;
}
