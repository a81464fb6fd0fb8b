import { randomBytes } from 'node:crypto';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Block, MessageRecord, StopReason, TaskRecord } from './records.ts';
import { textOf } from './records.ts';
import type { ServiceBehaviour } from './service-behaviour.ts';
import type { ServiceState } from './service-state.ts';
import type { Storage } from './storage.ts';

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

/** What a turn needs from the service. */
export interface TurnContext {
  state: ServiceState;
  storage: Storage;
  behaviour: ServiceBehaviour;
  /** Factor on every wait of the agent. */
  pace: number;
  /** Further factor on the pauses between words. */
  writingPace: number;
}

/** Ends a reply before its script returns. */
export class TurnEnd extends Error {
  override readonly name = 'TurnEnd';
  readonly reason: StopReason;
  constructor(reason: StopReason, message = '') {
    super(message);
    this.reason = reason;
  }
}

/** The message that a turn answers. */
export interface QueuedMessage {
  user: MessageRecord;
  reply: MessageRecord;
  files: AttachedFile[];
  skill: string | null;
  /** The first reply to it has failed. */
  isSecond?: boolean;
}

/** One message to the agent, and the means to reply: bound to one reply. */
export class RunningTurn {
  readonly task: TaskRecord;
  /** The text of the user's message. */
  readonly text: string;
  readonly files: readonly AttachedFile[];
  /** The task's earlier messages, oldest first. */
  readonly history: readonly { role: string; text: string }[];
  /** Id of the requested skill. */
  readonly skill: string | null;
  /** The reply being written. */
  reply: MessageRecord;
  /** Work that continues after the reply. */
  readonly backgroundWork: (() => Promise<void>)[] = [];
  readonly reviews: ReviewPlan[] = [];
  readonly #context: TurnContext;
  readonly #force = new AbortController();
  readonly #cancel = new AbortController();
  readonly #hurry = Promise.withResolvers<void>();
  #cancelNoticed = false;
  #closed = false;
  #answer: ((text: string) => void) | undefined;

  constructor(turnContext: TurnContext, task: TaskRecord, job: QueuedMessage) {
    this.#context = turnContext;
    this.task = task;
    this.reply = job.reply;
    this.text = textOf(job.user.content);
    this.files = job.files;
    this.skill = job.skill;
    this.history = task.messages
      .slice(0, task.messages.indexOf(job.user))
      .filter((message) => !message.review)
      .map(({ role, content }) => ({ role, text: textOf(content) }));
  }

  /** True after a graceful cancel. */
  get cancelling(): boolean {
    return this.#cancel.signal.aborted;
  }

  /** Aborted by any cancel. */
  get cancelSignal(): AbortSignal {
    return this.#cancel.signal;
  }

  /** Aborted by a cancel with `force`, a deletion or the service's stop. */
  get signal(): AbortSignal {
    return this.#force.signal;
  }

  /** Factor on the pauses between words, on top of the pace. */
  get writingPace(): number {
    return this.#context.writingPace;
  }

  /** Whether it no longer waits for anything but people. */
  isHurried = false;

  /** Whether it is waiting for the user's next message. */
  get asking(): boolean {
    return this.#answer !== undefined;
  }

  /** Appends to the reply's text. */
  write(text: string): void {
    this.#assertWritable();
    const { content } = this.reply;
    const last = content.at(-1);
    if (this.#context.behaviour.growth === 'in-place' && last?.type === 'text') {
      last.text = `${String(last.text)}${text}`;
    } else {
      content.push({ type: 'text', text });
    }
  }

  /** Writes a tool call, runs it and writes its result. */
  async tool(
    name: string,
    input: Record<string, unknown>,
    run: () => Promise<string> | string,
  ): Promise<string> {
    const id = `toolu_${randomBytes(8).toString('hex')}`;
    this.block({ type: 'tool_use', id, name, input });
    const content = await run();
    this.block({ type: 'tool_result', tool_use_id: id, content });
    return content;
  }

  /** Appends a block of any type. */
  block(block: Block): void {
    this.#assertWritable();
    this.reply.content.push(block);
  }

  /** Replaces all text of the reply. */
  rewrite(text: string): void {
    this.#assertWritable();
    const others = this.reply.content.filter((block) => block.type !== 'text');
    this.reply.content = [...others, { type: 'text', text }];
  }

  /** Adds a result file to the task; also allowed in background work. */
  async result(name: string, mime: string, bytes: Uint8Array | string): Promise<void> {
    if (this.#force.signal.aborted) throw new TurnCancelled();
    const { state, storage, behaviour } = this.#context;
    const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    const { project } = this.task;
    const size = data.byteLength;
    const file = state.addFile({ project, name, mime, size, purpose: 'output', ready: true });
    await storage.write(file.key, data, mime);
    if (behaviour.storedCoding !== null) file.size = (await storage.size(file.key)) ?? size;
    const { rewrittenResult } = behaviour;
    const earlier = this.task.results.find((result) => result.file.name === name);
    if (earlier === undefined || rewrittenResult === 'new-id') state.addResult(this.task, file);
    else Object.assign(earlier, { file }, rewrittenResult === 'same-id' && { createdAt: state.now() });
  }

  /** Adds a message of role `system` to the task. */
  system(text: string): void {
    this.#context.state.addMessage(this.task, 'system', [{ type: 'text', text }]);
  }

  /** Keeps the task running after the reply has ended: for `work` ms, or until it is done. */
  background(work: number | (() => Promise<void>)): void {
    this.backgroundWork.push(typeof work === 'number' ? () => this.sleep(work) : work);
  }

  /** Starts a review once the task has settled. */
  review(plan: ReviewPlan): void {
    this.reviews.push(plan);
  }

  /** Writes a question and waits for the user's next message; returns its text. */
  async ask(question: string): Promise<string> {
    if (question !== '') this.write(question);
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const onCancel = (): void => {
      this.#cancelNoticed = true;
      reject(new TurnCancelled());
    };
    if (this.cancelling) onCancel();
    this.#cancel.signal.addEventListener('abort', onCancel, { once: true });
    this.#answer = resolve;
    try {
      return await promise;
    } finally {
      this.#answer = undefined;
      this.#cancel.signal.removeEventListener('abort', onCancel);
    }
  }

  /** Passes the user's answer to `ask`; the turn continues in `reply`. */
  answer(text: string, reply: MessageRecord): void {
    this.reply = reply;
    this.#answer?.(text);
    this.#answer = undefined;
  }

  /** Ends the reply as failed. */
  fail(error: string): never {
    throw new TurnEnd('error', error);
  }

  /** Ends the reply. */
  end(reason: StopReason): never {
    throw new TurnEnd(reason);
  }

  /** Waits, scaled by the service's pace, and not at all once it is hurried. @throws TurnCancelled once after a graceful cancel */
  async sleep(ms: number): Promise<void> {
    if (this.cancelling && !this.#cancelNoticed) {
      this.#cancelNoticed = true;
      throw new TurnCancelled();
    }
    const cancel = this.#cancelNoticed || this.#closed ? this.#force.signal : this.#cancel.signal;
    const wait = delay(ms * this.#context.pace, undefined, { signal: cancel });
    await Promise.race([wait, this.#hurry.promise]).catch(() => undefined);
    if (!cancel.aborted) return;
    this.#cancelNoticed = true;
    throw new TurnCancelled();
  }

  /** Ends its waits, now and from now on. */
  hurry(): void {
    this.isHurried = true;
    this.#hurry.resolve();
  }

  /** Asks the script to stop; with `force` it can no longer write. */
  cancel(force: boolean): void {
    if (force) {
      this.#closed = true;
      this.#force.abort();
    }
    this.#cancel.abort();
  }

  /** Closes the reply for writing. */
  close(): void {
    this.#closed = true;
  }

  #assertWritable(): void {
    if (this.#closed) throw new TurnCancelled();
  }
}
