import type { AgentClient } from '../../agent/agent-client.ts';
import { undefinedIfNotFound } from '../../agent/errors.ts';
import type { Turn } from '../../store/schema.ts';
import type { ReadRate } from '../runtime/agent-read-budget.ts';
import type { Lease } from '../runtime/lease.ts';
import { sleepWithLease, throwIfInterrupted } from '../runtime/outage-waits.ts';

/** How long (ms) a task of which nothing more is expected must show itself settled to count as settled. */
export const SETTLED_TASK_SHORT_MS = 3_000;

/** Whether a turn's message was forwarded, and nobody knows yet whether it gets a reply of its own. */
export function seeksOwnReply(turn: Turn): boolean {
  return (
    turn.forwarded_by_turn_id !== null && turn.user_message_id !== null && turn.first_visible_at === null
  );
}

/** The message whose reply a turn waits for, and how its task may be read. */
export interface AnsweredMessage {
  agent: AgentClient;
  taskId: string;
  userMessageId: string;
  rate: ReadRate;
  lease: Lease;
  /** How long (ms) a task must show itself settled to count as settled: its status may lag behind a message. */
  settledTaskMs: number;
  /** Whether a person has asked to stop the turn. */
  isStopped(): boolean;
  /** The ids of the replies to other messages of the task, the latest first. */
  otherReplies(): Promise<readonly string[]>;
}

/** What one look at a task tells about a message's reply. */
interface Look {
  /** The reply; without certainty it may be the reply to another message. */
  replyId: string | undefined;
  isCertain: boolean;
  isAtRest: boolean;
  /** Whether the service names the message that a reply answers; undefined: not known. */
  areRepliesNamed: boolean | undefined;
}

/** Waits for a message's reply; returns its id, or undefined once the task rests without one for `settledMs`. Throws an AgentError. */
export async function findReply(
  message: AnsweredMessage,
  settledMs: () => number | Promise<number> = () =>
    message.isStopped() ? SETTLED_TASK_SHORT_MS : message.settledTaskMs,
): Promise<string | undefined> {
  const { rate, lease } = message;
  const leave = rate.join();
  try {
    let look: Look | undefined;
    for (let restsSince: number | undefined; ; ) {
      look = await lookForReply(message, look?.areRepliesNamed);
      if (look.isCertain) return look.replyId;
      const now = performance.now();
      restsSince = look.isAtRest ? (restsSince ?? now) : undefined;
      if (restsSince !== undefined && now - restsSince >= (await settledMs())) return look.replyId;
      await sleepWithLease(rate.intervalMs(), lease);
      await acquireRead(message);
    }
  } finally {
    leave();
  }
}

/** Looks once for the reply to a message: one that names the message, else the first that may be its own. */
export async function lookForReply(message: AnsweredMessage, areRepliesNamed?: boolean): Promise<Look> {
  const { agent, taskId, lease } = message;
  const { named, unnamed } = await listReplies(message);
  if (named !== undefined) return { replyId: named, isCertain: true, isAtRest: false, areRepliesNamed: true };
  await acquireRead(message);
  const { status, reviews } = await agent.getTask(taskId, { signal: lease.signal });
  const look = { replyId: undefined, isCertain: false, isAtRest: isAtRest(message, status), areRepliesNamed };
  const others = unnamed.length === 0 ? [] : await message.otherReplies();
  const isOwn = (id: string) => !others.includes(id) && !reviews.some(({ messageId }) => messageId === id);
  const replyId = unnamed.find(isOwn);
  if (replyId === undefined) return look;
  // No message of the task may yet name ours, as the reply before does not name its own.
  const areNamed = areRepliesNamed ?? (await isNamed(message, others[0]));
  return { ...look, replyId, isCertain: !areNamed, areRepliesNamed: areNamed };
}

/** Waits for a permit to read. Throws like `throwIfInterrupted`. */
export async function acquireRead({ rate, lease }: Pick<AnsweredMessage, 'rate' | 'lease'>): Promise<void> {
  await rate.acquire(lease.signal);
  throwIfInterrupted(lease);
}

/** Whether nothing more is expected of a task in this status. After a stop, only a task at work goes on. */
export function isAtRest({ isStopped }: Pick<AnsweredMessage, 'isStopped'>, status: string): boolean {
  return isTaskSettled(status) || (isStopped() && status !== 'running');
}

/** Whether a task does not work: `idle` where it has none of our messages yet. */
export function isTaskSettled(status: string): status is 'completed' | 'cancelled' | 'failed' | 'idle' {
  return status === 'completed' || status === 'cancelled' || status === 'failed' || status === 'idle';
}

/** The assistant message that names ours, and those before the next message that name none. */
async function listReplies({ agent, taskId, userMessageId, lease }: AnsweredMessage) {
  const unnamed: string[] = [];
  let next = false;
  for await (const message of agent.messagesAfter(taskId, userMessageId, { signal: lease.signal })) {
    if (message.role === 'user') next = true;
    if (message.role !== 'assistant') continue;
    const answered = message.input?.userMessageId ?? null;
    if (answered === userMessageId) return { named: message.id, unnamed };
    if (answered === null && !next) unnamed.push(message.id);
  }
  return { unnamed };
}

async function isNamed({ agent, taskId, lease }: AnsweredMessage, replyId?: string): Promise<boolean> {
  if (replyId === undefined) return false;
  const { signal } = lease;
  const reply = await undefinedIfNotFound(() => agent.getMessage(taskId, replyId, { signal }));
  return (reply?.input?.userMessageId ?? null) !== null;
}
