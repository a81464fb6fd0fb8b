import type { AgentClient } from '../../agent/client.ts';
import { AgentAbortedError, AgentError, AgentUnavailableError } from '../../agent/errors.ts';
import { type Message as AgentMessage, type MessageResult, textOf } from '../../agent/schema.ts';
import type { Turn } from '../../store/tables.ts';
import { messageKeyOf } from '../../store/turns.ts';
import type { RelayParts } from '../context.ts';
import { TurnEnds } from '../interruption.ts';
import { type Lease, leaseMs } from '../lease.ts';
import { serviceOverMs, untilOver } from '../settling.ts';
import { unlessStopped } from './stop-check.ts';

/** How often the task's messages are read beside a send that the service holds open (ms). */
const lookEveryMs = 1_000;
/** A send that is not at the service after so long is given up (ms): within the lease that it began under. */
const sendWindowMs = leaseMs;

/** Where a turn's message is at the service. */
export interface Delivered {
  turn: Turn;
  /** The reply, where the answer to the send told it. */
  reply: AgentMessage | null;
}

/**
 * Sends a turn's message once. The intent records the task's last message before the call; after an unknown outcome
 * ours is the user message after that one with the same content and bound to no other turn. Throws AgentError;
 * after an error whose outcome is `unknown`, call it again: it looks before it sends. What surely was not sent is held
 * back by `stop`, whose reason is thrown, and by a stop that was recorded before the intent: throws TurnEnds or Held.
 */
export async function deliver(
  parts: RelayParts,
  agent: AgentClient,
  taskId: string,
  turn: Turn,
  lease: Lease,
  stop: AbortSignal,
): Promise<Delivered> {
  const { store } = parts;
  // The answer to the commit that recorded it may have been lost on its way.
  if (turn.user_message_id !== null) return { turn, reply: null };
  const before = await settle(parts, agent, taskId, turn, lease);
  if (before !== undefined) return { turn: await bind(parts, turn, taskId, before), reply: null };
  const [last] = await agent.lastMessages(taskId, 1);
  stop.throwIfAborted();
  const skill = turn.skill ?? parts.settings.skill;
  const intended = await intend(parts, turn, last?.id ?? '', skill);
  const abort = new AbortController();
  const watch = new AbortController();
  const signal = AbortSignal.any([abort.signal, lease.signal]);
  const sending = agent.sendMessage(
    taskId,
    {
      content: intended.content ?? '',
      fileIds: intended.attached ?? [],
      ...(skill === undefined ? {} : { skill }),
    },
    { guard: lease, signal },
  );
  try {
    const first = await Promise.race([
      sending,
      seen(parts, agent, taskId, intended, AbortSignal.any([signal, watch.signal]), () => abort.abort()),
    ]);
    const { id, reply } = told(first);
    if (id !== undefined) return { turn: await bind(parts, intended, taskId, id), reply };
    const found = await ours(parts, agent, taskId, intended);
    if (found !== undefined) return { turn: await bind(parts, intended, taskId, found), reply };
    throw new Error('The service answered a send without its message, and does not list it.');
  } catch (error) {
    if (error instanceof AgentAbortedError && abort.signal.aborted) throw notSeen(error);
    const surelyNot =
      error instanceof AgentError && (error.outcome === 'refused' || error.outcome === 'not_sent');
    // After the lease the intent may be that of the process that holds the turn now.
    if (surelyNot && lease.remainingMs() > 0) {
      await store.turns.record(intended, { send_intended_at: null });
    }
    throw error;
  } finally {
    watch.abort();
    // What the held send still answers is read from the messages; its end is of no interest.
    sending.catch(() => undefined);
  }
}

function notSeen(cause: Error): AgentUnavailableError {
  const sentence =
    'The service took the message but does not list it; it is looked for again before it is sent again.';
  return new AgentUnavailableError({ sentence, outcome: 'unknown', cause });
}

function told(first: MessageResult | string): { id: string | undefined; reply: AgentMessage | null } {
  if (typeof first === 'string') return { id: first, reply: null };
  return { id: first.userMessage?.id, reply: first.assistantMessage };
}

/** Looks for our message beside the held send; gives the send up where it is not there within the window. */
async function seen(
  parts: RelayParts,
  agent: AgentClient,
  taskId: string,
  turn: Turn,
  signal: AbortSignal,
  giveUp: () => void,
): Promise<string> {
  const began = performance.now();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    if (signal.aborted) return new Promise(() => undefined);
    const id = await ours(parts, agent, taskId, turn).catch(() => undefined);
    if (id !== undefined) return id;
    if (performance.now() - began > sendWindowMs) {
      giveUp();
      return new Promise(() => undefined);
    }
  }
}

/** Finds out what became of an earlier send; undefined where there was none, or it surely did not arrive. */
async function settle(
  parts: RelayParts,
  agent: AgentClient,
  taskId: string,
  turn: Turn,
  lease: Lease,
): Promise<string | undefined> {
  if (turn.send_intended_at === null) return undefined;
  const found = await ours(parts, agent, taskId, turn);
  if (found !== undefined) return found;
  await untilOver(turn.send_intended_at, serviceOverMs, lease);
  return ours(parts, agent, taskId, turn);
}

/** Records the intent to send, unless a stop was recorded first or the words were forgotten. Throws TurnEnds or Held. */
async function intend(
  parts: RelayParts,
  turn: Turn,
  after: string,
  skill: string | undefined,
): Promise<Turn> {
  return parts.store.transaction(async (store) => {
    await store.threads.lock(turn);
    const { content } = await unlessStopped(store, turn);
    if (content === null) throw new TurnEnds('withdrawn', null);
    return store.turns.record(turn, {
      send_after_id: after,
      send_intended_at: new Date(),
      skill: skill ?? null,
    });
  });
}

/** The id of our message at the service: after the intent's last message, same content, bound to no other turn. */
async function ours(
  parts: RelayParts,
  agent: AgentClient,
  taskId: string,
  turn: Turn,
): Promise<string | undefined> {
  for await (const message of agent.messagesAfter(taskId, turn.send_after_id || null)) {
    if (message.role !== 'user' || textOf(message) !== turn.content) continue;
    if (!(await parts.store.turns.isBound(turn.workspace, message.id))) return message.id;
  }
  return undefined;
}

/** Records that the message is at the service. */
async function bind(parts: RelayParts, turn: Turn, taskId: string, userMessageId: string): Promise<Turn> {
  return parts.store.transaction(async (store) => {
    await store.messages.sent(messageKeyOf(turn));
    return store.turns.record(turn, { user_message_id: userMessageId, task_id: taskId });
  });
}
