import { setTimeout as delay } from 'node:timers/promises';
import type { AgentScript } from './agent-script.ts';
import {
  type AttachedFile,
  type QueuedMessage,
  type ReviewPlan,
  RunningTurn,
  TurnCancelled,
  type TurnContext,
  TurnEnd,
} from './agent-turn.ts';
import {
  type Block,
  type FileRecord,
  type MessageRecord,
  type ReviewRecord,
  type TaskRecord,
  textOf,
} from './records.ts';

/** An accepted user message. */
export interface AcceptedMessage {
  content: Block[];
  files: FileRecord[];
  skill: string | null;
}

/** Runs the agent on one task: one reply at a time, in the order of the messages. */
export class TaskRunner {
  readonly task: TaskRecord;
  readonly #context: TurnContext;
  readonly #script: AgentScript;
  readonly #queue: QueuedMessage[] = [];
  readonly #abandoned = new AbortController();
  #turn: RunningTurn | undefined;

  constructor(turnContext: TurnContext, script: AgentScript, task: TaskRecord) {
    this.#context = turnContext;
    this.#script = script;
    this.task = task;
  }

  /** Whether the agent is waiting for the user's next message. */
  get isAsking(): boolean {
    return this.#turn?.asking ?? false;
  }

  /** Accepts a user message; returns it and its future reply. */
  deliver(delivery: AcceptedMessage): { user: MessageRecord; reply: MessageRecord } {
    const { state, behaviour } = this.#context;
    const user = state.addMessage(this.task, 'user', delivery.content);
    state.setTask(this.task, 'running');
    if (this.#turn?.asking === true) {
      const old = this.#turn.reply;
      const reply = behaviour.afterAsk === 'same-reply' ? old : this.#addReply(user, delivery.files);
      if (reply !== old) {
        this.#settle(old, 'completed');
        state.setMessage(reply, 'streaming');
      }
      this.#turn.answer(textOf(user.content), reply);
      return { user, reply };
    }
    const reply = this.#addReply(user, delivery.files);
    const files = delivery.files.map((file) => this.#attached(file));
    this.#queue.push({ user, reply, files, skill: delivery.skill });
    if (this.#turn === undefined) this.#next();
    return { user, reply };
  }

  /** Stops the agent; returns false if nothing is running. */
  cancel(force: boolean): boolean {
    const { state } = this.#context;
    const turn = this.#turn;
    if (turn === undefined) return false;
    for (const job of this.#queue.splice(0)) this.#settle(job.reply, 'cancelled');
    const writing = turn.reply.status === 'streaming' || turn.reply.status === 'cancelling';
    turn.cancel(force || !writing);
    if (!writing || force) {
      if (writing) this.#settle(turn.reply, 'cancelled');
      this.#turn = undefined;
      state.setTask(this.task, 'cancelled');
      return true;
    }
    state.setMessage(turn.reply, 'cancelling');
    state.setTask(this.task, 'cancelled');
    return true;
  }

  /** The agent waits for nothing but people until its turn is over; returns false if nothing is running. */
  hurry(): boolean {
    this.#turn?.hurry();
    return this.#turn !== undefined;
  }

  /** Ends all work, for a deleted task or a stopping service. */
  abandon(): void {
    this.#abandoned.abort();
    this.cancel(true);
  }

  #next(): void {
    const job = this.#queue.shift();
    if (job === undefined) return;
    const turn = new RunningTurn(this.#context, this.task, job);
    this.#turn = turn;
    this.#context.state.setMessage(job.reply, 'streaming');
    void this.#run(turn, job);
  }

  async #run(turn: RunningTurn, job: QueuedMessage): Promise<void> {
    let end: TurnEnd;
    try {
      // The request that caused the reply is answered before the first write.
      await new Promise((resolve) => setImmediate(resolve));
      await this.#script(turn);
      end = new TurnEnd(turn.cancelling ? 'cancelled' : 'stop');
    } catch (error) {
      end = endOf(error);
    }
    if (this.#turn !== turn) return;
    turn.close();
    let status: SettledStatus = STATUS_OF[turn.reply.status === 'cancelling' ? 'cancelled' : end.reason];
    this.#settle(turn.reply, status, end);
    if (status === 'failed' && (await this.#beginAnew(turn, job))) return;
    if (this.#turn !== turn) return;
    if (status === 'completed') {
      const ends = await Promise.all(turn.backgroundWork.map((work) => work().then(() => undefined, endOf)));
      if (this.#turn !== turn) return;
      const failed = ends.find((one) => one?.reason === 'error');
      const ended = failed ?? ends.find((one) => one !== undefined);
      if (ended !== undefined) status = STATUS_OF[ended.reason];
      if (this.#context.behaviour.backgroundError === 'on-the-reply')
        turn.reply.error = failed?.message ?? null;
    }
    this.#turn = undefined;
    if (this.#queue.length > 0) return this.#next();
    this.#context.state.setTask(this.task, status);
    for (const plan of turn.reviews) void runReview(this.#context, this.task, plan, this.#abandoned.signal);
  }

  /** Answers a message once more after a failure, in another reply; false if the failure is the end. */
  async #beginAnew(turn: RunningTurn, job: QueuedMessage): Promise<boolean> {
    const { secondReplyMs } = this.#context.behaviour;
    if (secondReplyMs === null || job.isSecond === true) return false;
    await delay(secondReplyMs, undefined, { signal: this.#abandoned.signal }).catch(() => undefined);
    if (this.#turn !== turn) return false;
    this.#queue.unshift({ ...job, reply: this.#addReply(job.user, job.files), isSecond: true });
    this.#next();
    return true;
  }

  #settle(reply: MessageRecord, status: SettledStatus, end?: TurnEnd): void {
    if (!this.#context.behaviour.repliesSettle) return;
    const reasons = { completed: end?.reason ?? 'stop', failed: 'error', cancelled: 'cancelled' } as const;
    reply.stopReason = reasons[status];
    if (status === 'failed') reply.error = end?.message ?? 'The agent failed';
    this.#context.state.setMessage(reply, status);
  }

  #addReply(user: MessageRecord, files: readonly { id: string }[]): MessageRecord {
    const input = { userMessageId: user.id, fileIds: files.map(({ id }) => id) };
    return this.#context.state.addMessage(this.task, 'assistant', [], { status: 'pending', input });
  }

  #attached({ id, name, mime, size, key }: FileRecord): AttachedFile {
    return { id, name, mime, size, open: () => this.#context.storage.read(key) };
  }
}

type SettledStatus = 'completed' | 'failed' | 'cancelled';

const STATUS_OF = {
  stop: 'completed',
  length: 'completed',
  cancelled: 'cancelled',
  error: 'failed',
} as const;

function endOf(error: unknown): TurnEnd {
  if (error instanceof TurnEnd) return error;
  if (error instanceof TurnCancelled) return new TurnEnd('cancelled');
  return new TurnEnd('error', error instanceof Error ? error.message : String(error));
}

/** Runs a review after a turn. It appears with its findings and replaces earlier reviews unless they are kept. */
export async function runReview(
  { state, pace, behaviour }: TurnContext,
  task: TaskRecord,
  plan: ReviewPlan,
  signal: AbortSignal,
): Promise<void> {
  try {
    await delay((plan.afterMs ?? 0) * pace, undefined, { signal });
    const content = [{ type: 'text', text: plan.findings ?? '' }];
    const more = { review: true, status: 'completed', stopReason: 'stop', completedAt: state.now() } as const;
    const message = plan.findings === undefined ? null : state.addMessage(task, 'assistant', content, more);
    const review: ReviewRecord = { status: 'running', messageId: message?.id ?? null, errorMessage: null };
    const appear = () => {
      const before = behaviour.reviewsKept ? task.reviews.filter((one) => one !== review) : [];
      task.reviews = [...before, review];
    };
    if ((plan.verifyMs ?? 0) > 0) {
      appear();
      await delay((plan.verifyMs ?? 0) * pace, undefined, { signal });
    }
    review.status = plan.status ?? (plan.error === undefined ? 'completed' : 'failed');
    review.errorMessage = plan.error ?? null;
    appear();
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
