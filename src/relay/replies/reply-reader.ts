import { undefinedIfNotFound } from '../../agent/errors.ts';
import { within } from '../../calls/retries-and-waits.ts';
import type { Turn } from '../../store/schema.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import type { TaskWork } from '../runtime/deps.ts';
import type { ReadRate, ReadTimes } from '../runtime/read-rate.ts';
import type { TurnMemory } from '../runtime/reply-memory.ts';
import { hasReplyFailed, isReplySettled, keptSizeOf, type ReadReply, toReadReply } from './reply-blocks.ts';

/** An edit shows the last read, without another one, if that is at most this old (ms). */
const FRESH_READ_MS = 400;
/** How long (ms) an edit waits for a read; then it shows the last one. */
const DUE_READ_TIMEOUT_MS = 1_000;
/** For `ReadTimes.dueUntil`: no edit waits for the read. */
const NOT_DUE = 0;
const MAX_SILENT_PAUSE_MS = 5_000;
/** How often in `settledTaskMs` the task of an unchanged reply is read: the reply may never settle. */
const TASK_READS = 6;

/** Where a reply is kept, and who gets it. */
export interface ReplyReaderOptions {
  memory: TurnMemory;
  onRead: (reply: ReadReply) => void;
  /** There is no room for the reply so far. */
  onMemoryWait?: () => void;
}

/** A reply at its end; `isReplySettled` is false if only its task has settled, and the reply never did. */
export interface SettledReply {
  reply: ReadReply;
  isReplySettled: boolean;
}

/** Reads one reply until it has settled: at the rate's pace while it grows, else more and more seldom. */
export class ReplyReader {
  readonly #message: AnsweredMessage;
  readonly #options: ReplyReaderOptions;
  /** The service's id of the reply, which changes if the service gave a wrong one, or began anew. */
  replyId: string;
  /** When it was last read (`performance.now()`). */
  #readAt = Number.NEGATIVE_INFINITY;
  /** Identifies what was read; '' before the first read. */
  #fingerprint = '';
  /** The least pause before the next read (ms): it grows while nothing changes. */
  #silentPauseMs = 0;
  /** The last read found new text at the end: a reply ends with its text, and may do so at once. */
  #isWriting = false;
  /** When the task of the reply is to be read next (`performance.now()`). */
  #taskDueAt = 0;
  /** Since when (`performance.now()`) nothing more is expected of the task. */
  #taskRestsSince: number | undefined;
  /** Since when (`performance.now()`) another reply is looked for, because this one has failed. */
  #failedSince: number | undefined;
  /** What `readToEnd` returns, once it is known. */
  #settled: SettledReply | undefined;
  /** When the next read may come; undefined while `readToEnd` does not run. */
  #readTimes: ReadTimes | undefined;
  /** The next read, while an edit waits for it. */
  #awaitedRead: PromiseWithResolvers<void> | undefined;

  constructor(message: AnsweredMessage, replyId: string, options: ReplyReaderOptions) {
    this.#message = message;
    this.replyId = replyId;
    this.#options = options;
  }

  /**
   * Reads until the reply has settled, and returns it. A failed reply is returned only if no other comes. A reply
   * that never settles is returned with its task's status, once nothing has changed, and nothing was expected of
   * the task, for `settledTaskMs`. Throws an AgentError.
   */
  async readToEnd(): Promise<SettledReply> {
    const { rate, lease } = this.#message;
    using _place = rate.join();
    const times = { notBefore: 0, dueUntil: NOT_DUE };
    this.#readTimes = times;
    try {
      while (this.#settled === undefined) {
        const pauseMs = Math.max(rate.intervalMs(this.#isWriting), this.#silentPauseMs);
        times.notBefore = Math.max(performance.now(), this.#readAt + pauseMs);
        await rate.acquire(lease, times);
        await this.#readOnce();
      }
      return this.#settled;
    } finally {
      this.#readTimes = undefined;
      this.#resolveAwaitedRead();
    }
  }

  /** Asks for a read at once, and waits a little for it. Does nothing if the last read is fresh, or no more come. */
  async refresh(): Promise<void> {
    if (this.#readTimes === undefined || performance.now() - this.#readAt < FRESH_READ_MS) return;
    this.#awaitedRead ??= Promise.withResolvers();
    this.#message.rate.makeDue(this.#readTimes, DUE_READ_TIMEOUT_MS);
    await within(DUE_READ_TIMEOUT_MS, this.#awaitedRead.promise, undefined);
  }

  /** Lets the edits go on that wait for a read: it has come, or none comes any more. */
  #resolveAwaitedRead(): void {
    if (this.#readTimes !== undefined) this.#readTimes.dueUntil = NOT_DUE;
    this.#awaitedRead?.resolve();
    this.#awaitedRead = undefined;
  }

  /** Reads the reply. If it stands still, looks at its task or, after a failure, for another reply. */
  async #readOnce(): Promise<void> {
    const hasRead = this.#fingerprint !== '';
    const reply = await (hasRead ? this.read() : undefinedIfNotFound(() => this.read()));
    if (reply === undefined) {
      // The service has named a reply that it does not have.
      const { replyId } = await lookForReply(this.#message);
      this.replyId = replyId ?? this.replyId;
      await this.read();
    } else if (this.#settled === undefined) {
      if (hasReplyFailed(reply)) await this.#lookForAnother(reply);
      else if (this.#readAt >= this.#taskDueAt) await this.#readTask(reply);
    }
  }

  /** Looks for a later reply after a failed one: a service may answer again, and the latest counts. */
  async #lookForAnother(failed: ReadReply): Promise<void> {
    const { agent, taskId, lease, settledTaskMs } = this.#message;
    // The status is read before the messages: a reply that begins and ends in between is then listed.
    await this.#message.rate.acquire(lease);
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    const { replyId = this.replyId, hasNewerMessage } = await lookForReply(this.#message);
    if (replyId !== this.replyId) {
      this.replyId = replyId;
      this.#silentPauseMs = 0;
      this.#failedSince = undefined;
      return;
    }
    const now = performance.now();
    this.#failedSince ??= now;
    const hasWaited = now - this.#failedSince >= settledTaskMs;
    // The failure is final once people wrote on, the task rests, or no other reply came for long enough.
    if (hasNewerMessage || isAtRest(this.#message, status) || hasWaited)
      this.#settled = { reply: failed, isReplySettled: true };
  }

  /** Reads the reply now, and gives it to `onRead`. If it has settled and not failed, `readToEnd` ends. */
  async read(): Promise<ReadReply> {
    const { agent, taskId, lease } = this.#message;
    const { memory, onRead, onMemoryWait } = this.#options;
    const get = async () =>
      toReadReply(await agent.getMessage(taskId, this.replyId, { signal: lease.signal }));
    const reply = await memory.read('reply', get, keptSizeOf, { lease, onWait: onMemoryWait });
    this.#message.onAnswered();
    this.#remember(reply);
    if (isReplySettled(reply) && !hasReplyFailed(reply)) this.#settled = { reply, isReplySettled: true };
    onRead(reply);
    this.#resolveAwaitedRead();
    return reply;
  }

  /** Remembers a read, and plans the next ones of the reply and its task by whether this one has found anything new. */
  #remember({ fingerprint, blocks }: ReadReply): void {
    const { rate, settledTaskMs } = this.#message;
    this.#readAt = performance.now();
    this.#isWriting = fingerprint !== this.#fingerprint && blocks.at(-1)?.kind === 'text';
    if (fingerprint === this.#fingerprint) {
      const pauseMs = Math.max(rate.intervalMs(), this.#silentPauseMs * 1.3);
      this.#silentPauseMs = Math.min(MAX_SILENT_PAUSE_MS, pauseMs);
      return;
    }
    this.#fingerprint = fingerprint;
    this.#silentPauseMs = 0;
    this.#taskDueAt = this.#readAt + settledTaskMs / TASK_READS;
    this.#taskRestsSince = undefined;
  }

  /** Reads an unchanged reply's task. If nothing is expected of it for long, the reply counts as it is. */
  async #readTask(reply: ReadReply): Promise<void> {
    const { agent, taskId, lease, settledTaskMs } = this.#message;
    await this.#message.rate.acquire(lease);
    const { status } = await agent.getTask(taskId, { signal: lease.signal });
    const now = performance.now();
    this.#taskDueAt = now + settledTaskMs / TASK_READS;
    this.#taskRestsSince = isAtRest(this.#message, status) ? (this.#taskRestsSince ?? now) : undefined;
    if (this.#taskRestsSince === undefined || now - this.#taskRestsSince < settledTaskMs) return;
    const outcome = status === 'cancelled' || status === 'failed' ? status : 'completed';
    this.#settled = { reply: { ...reply, status: outcome }, isReplySettled: false };
  }
}

/** How long (ms) a task of which nothing more is expected must show itself settled to count as settled. */
export const SETTLED_TASK_SHORT_MS = 3_000;

/** Of an open turn: whether its message was passed on to a run, and may still get a reply of its own. */
export function seeksOwnReply(turn: Turn): boolean {
  // A reply of its own sets `first_visible_at` as it opens. Without one the turn ends, and is asked no more.
  return turn.passed_on_by_turn_id !== null && isAtService(turn) && turn.first_visible_at === null;
}

/** The message whose reply a turn waits for, and how its task may be read. */
export interface AnsweredMessage extends Pick<TaskWork, 'agent' | 'taskId' | 'lease'> {
  userMessageId: string;
  rate: ReadRate;
  /** How long (ms) a task must seem settled to count as settled: its status may lag behind a message. */
  settledTaskMs: number;
  isStopped(): boolean;
  /** Called for each look that the service has answered: waits for a reply, and for its end, take hours. */
  onAnswered(): void;
  /** The ids of the replies to other messages of the task, the latest first. */
  otherReplies(): Promise<readonly string[]>;
}

/** What one look at a task tells about a message's reply. */
interface Look {
  /** The reply. Unless `isCertain`, it may be the reply to another message. */
  replyId: string | undefined;
  isCertain: boolean;
  /** Whether nothing more is expected of the task; false if a reply names the message, because then nobody asks. */
  isAtRest: boolean;
  /** Whether people have written since; not looked for behind a reply that names the message and has not failed. */
  hasNewerMessage: boolean;
}

/** The id of a message's reply once that is certain; else of the likeliest, if any, once the task has rested for `settledMs`. */
export async function findReply(
  message: AnsweredMessage,
  settledMs: () => number | Promise<number> = () =>
    message.isStopped() ? SETTLED_TASK_SHORT_MS : message.settledTaskMs,
): Promise<string | undefined> {
  const { rate, lease } = message;
  using _place = rate.join();
  let restsSince: number | undefined;
  for (;;) {
    const look = await lookForReply(message);
    message.onAnswered();
    if (look.isCertain) return look.replyId;
    const now = performance.now();
    restsSince = look.isAtRest ? (restsSince ?? now) : undefined;
    if (restsSince !== undefined && now - restsSince >= (await settledMs())) return look.replyId;
    await rate.acquire(lease, { notBefore: performance.now() + rate.intervalMs(), dueUntil: NOT_DUE });
  }
}

/** Looks once for the reply to a message: one that names it or, of those that may answer it, the likeliest. */
async function lookForReply(message: AnsweredMessage): Promise<Look> {
  const { agent, taskId, lease } = message;
  const { named, unnamed, hasNewerMessage } = await listReplies(message);
  if (named !== undefined) return { replyId: named, isCertain: true, isAtRest: false, hasNewerMessage };
  await message.rate.acquire(lease);
  const { status, reviews } = await agent.getTask(taskId, { signal: lease.signal });
  const others = unnamed.length === 0 ? [] : await message.otherReplies();
  const isOwn = (id: string) => !others.includes(id) && !reviews.some(({ messageId }) => messageId === id);
  const own = unnamed.filter(({ id }) => isOwn(id));
  // The first that has not failed. If all have, the service's last attempt counts.
  const replyId = (own.find(({ hasFailed }) => !hasFailed) ?? own.at(-1))?.id;
  // A service that names the message in the latest other reply does so in ours, too. A reply without a name is
  // then only a guess: ours may still come.
  const isCertain = replyId !== undefined && !(await namesItsMessage(message, others[0]));
  return { replyId, isCertain, isAtRest: isAtRest(message, status), hasNewerMessage };
}

/** Whether nothing more is expected of a task in this status. After a stop, only a running task goes on. */
export function isAtRest({ isStopped }: Pick<AnsweredMessage, 'isStopped'>, status: string): boolean {
  return isTaskSettled(status) || (isStopped() && status !== 'running');
}

/** Whether a task does not work: `idle` where it has none of our messages yet. */
export function isTaskSettled(status: string): status is 'completed' | 'cancelled' | 'failed' | 'idle' {
  return status === 'completed' || status === 'cancelled' || status === 'failed' || status === 'idle';
}

/**
 * Reads what follows our message. `named`: the reply that names it; of several the first that has not failed,
 * or else the last. `unnamed`: the replies that name no message, up to people's next message.
 * `hasNewerMessage`: whether people wrote on, as far as was read: up to a `named` reply that has not failed.
 */
async function listReplies({ agent, taskId, userMessageId, lease }: AnsweredMessage) {
  let named: string | undefined;
  const unnamed: { id: string; hasFailed: boolean }[] = [];
  let hasNewerMessage = false;
  for await (const message of agent.messagesAfter(taskId, userMessageId, { signal: lease.signal })) {
    if (message.role === 'user') hasNewerMessage = true;
    if (message.role !== 'assistant') continue;
    const { id, input } = message;
    const answered = input?.userMessageId ?? null;
    const hasFailed = hasReplyFailed(message);
    if (answered === userMessageId) named = id;
    // Whether people wrote on after it counts only for a reply that has failed.
    if (answered === userMessageId && !hasFailed) break;
    if (answered === null && !hasNewerMessage) unnamed.push({ id, hasFailed });
  }
  return { named, unnamed, hasNewerMessage };
}

/** Whether a reply names the message that it answers; false without a reply. */
async function namesItsMessage({ agent, taskId, lease }: AnsweredMessage, replyId?: string) {
  if (replyId === undefined) return false;
  const reply = await undefinedIfNotFound(() => agent.getMessage(taskId, replyId, { signal: lease.signal }));
  return (reply?.input?.userMessageId ?? null) !== null;
}
