import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, isBusy, undefinedIfNotFound } from '../../agent/errors.ts';
import { type Message as AgentMessage, messageText, type SendResult } from '../../agent/service-schema.ts';
import { anySignal, NO_LONGER_NEEDED, sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { isAtService } from '../../store/threads/turn-phase.ts';
import type { TaskWork } from '../runtime/deps.ts';
import { throwIfInterrupted } from '../runtime/lease.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import { once, type ServiceLook, searchUntilSettled } from '../runtime/unknown-outcome.ts';
import { lockedIfForwarded, unlessStopped } from './sent-content.ts';

/** How often the task's messages are listed while the service holds a send open (ms). */
const LIST_POLL_INTERVAL_MS = 1_000;
/** A send that is open for this long (ms) without its message in the task's list is given up. */
const SEND_WINDOW_MS = 600_000;

/** The id of a task's last message; '' without any. */
export async function lastMessageId(agent: AgentClient, taskId: string): Promise<string> {
  return (await agent.lastMessage(taskId))?.id ?? '';
}

/** What the service's refusal of a message means, if it is about its task or its skill; else the error itself. */
export async function refusalOf(
  error: unknown,
  { agent, taskId, deps }: TaskWork,
  turn: Turn,
): Promise<unknown> {
  if (isBusy(error)) {
    const { status } = await agent.getTask(taskId);
    // A busy task becomes free again.
    if (status !== 'failed' && status !== 'cancelled') return error;
    return new TurnEnded('refused', strings.taskClosed, { cause: error, isTaskClosed: true });
  }
  const skill = turn.skill ?? deps.settings.skill;
  if (!(error instanceof AgentNotFoundError) || skill === undefined) return error;
  if ((await undefinedIfNotFound(() => agent.getTask(taskId))) === undefined) return error;
  const isChosen = skill !== deps.settings.skill;
  const offer = isChosen && { offer: 'choose' as const };
  return new TurnEnded('refused', strings.unknownSkill(skill, isChosen), { cause: error, ...offer });
}

/**
 * Settles sends in doubt of a turn's message: its own, and those of the turns whose message it sends again. Ours is the
 * user message after the intent's last one with the same content that is bound to no other turn. Returns the turn, bound
 * to the message that was found, or with no intent to send where the service surely has none. Throws AgentError, and what
 * `sleepWithLease` does.
 */
export async function settleSends(task: TaskWork, turn: Turn, inDoubt: readonly Turn[]): Promise<Turn> {
  const { turns } = task.deps.store;
  const look = async () => {
    let listing = '';
    for (const sender of inDoubt) {
      const seen = await lookForMessage(task, sender);
      if (seen.found !== undefined) return seen;
      listing = seen.listing;
    }
    return { found: undefined, listing };
  };
  const found = await searchUntilSettled(look, task.deps.settings.resendMs, task.lease);
  if (found !== undefined) return recordDelivery(task, turn, found);
  // Without the lease the intent may belong to the process that has the turn now.
  throwIfInterrupted(task.lease);
  for (const { id } of inDoubt)
    if (id !== turn.id) await turns.record({ ...turn, id }, { send_intended_at: null });
  return turns.record(turn, { send_intended_at: null });
}

/**
 * Sends a turn's message exactly once, unless the turn has it bound already. The intent records the task's last message
 * before the call. `isIntended`: the intent was recorded just before, and nothing was sent since.
 *
 * Returns the turn, with the id of its reply if the service has named that. Throws AgentError; after an error whose outcome
 * is `unknown`, settle the send before it is called again. Throws the reason of `stopSignal`, or TurnEnded or Interruption for
 * a stop that was recorded before the intent.
 */
export async function deliverOnce(
  task: TaskWork,
  turn: Turn,
  stopSignal: AbortSignal,
  isIntended: boolean,
): Promise<Turn> {
  const { deps, agent, taskId, lease } = task;
  // An earlier attempt may have recorded it although the commit's answer was lost.
  if (isAtService(turn)) return turn;
  const intended = isIntended ? turn : await recordIntent(task, turn, stopSignal);
  const window = AbortSignal.timeout(SEND_WINDOW_MS);
  const answered = new AbortController();
  const signal = anySignal([window, lease.signal]);
  const { prompt, attached_file_ids: fileIds, skill } = intended;
  const body = { content: prompt ?? '', fileIds: fileIds ?? [], ...(skill !== null && { skill }) };
  const sending = agent
    .sendMessage(taskId, body, { guard: lease, signal })
    .then(readSendResult, readUnreadableResult);
  const polling = pollUntilListed(task, intended, anySignal([signal, answered.signal]));
  const act = () => Promise.race([sending, polling]);
  const forget = async () => void (await deps.store.turns.record(intended, { send_intended_at: null }));
  const first = await once({ act, forget }, lease)
    .catch((error: unknown): never => {
      const isOverdue = error instanceof AgentError && error.code === 'aborted' && window.aborted;
      throw isOverdue ? notListedError('unavailable', error) : error;
    })
    .finally(() => {
      answered.abort(NO_LONGER_NEEDED);
      // The message is read from the task's list, so the result of a send that is still open does not matter.
      sending.catch(() => undefined);
    });
  const id = first.id ?? (await lookForMessage(task, intended)).found;
  if (id === undefined) throw first.error ?? notListedError('not_understood');
  return recordDelivery(task, intended, id, first.reply);
}

function notListedError(code: 'not_understood' | 'unavailable', cause?: Error): AgentError {
  const sentence =
    'The service accepted the message but does not list it. It is looked up again before it is resent.';
  return new AgentError(code, { sentence, outcome: 'unknown', cause });
}

interface SendAnswer {
  /** Its id; undefined where the task's list must say which is ours. */
  id: string | undefined;
  /** What is needed of the reply, which may be long. */
  reply?: Pick<AgentMessage, 'id' | 'input'> | null;
  error?: AgentError;
}

function readSendResult({ userMessage, assistantMessage: reply }: SendResult): SendAnswer {
  // Where the reply names another message, the list says which is ours.
  const answered = reply?.input?.userMessageId ?? userMessage?.id;
  return { id: answered === userMessage?.id ? answered : undefined, reply };
}

/** The service may have taken a message although its answer is unreadable. */
function readUnreadableResult(error: unknown): SendAnswer {
  const isUnreadable = error instanceof AgentError && error.code === 'not_understood';
  if (!isUnreadable || error.outcome !== 'unknown') throw error;
  return { id: undefined, error };
}

/** Lists the task's messages while a send is open, until ours is among them. */
async function pollUntilListed(task: TaskWork, turn: Turn, signal: AbortSignal): Promise<SendAnswer> {
  for (;;) {
    await sleepUnlessAborted(LIST_POLL_INTERVAL_MS, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const look = await lookForMessage(task, turn).catch(() => undefined);
    if (look?.found !== undefined) return { id: look.found };
  }
}

async function recordIntent({ deps, agent, taskId }: TaskWork, turn: Turn, stopSignal: AbortSignal) {
  const last = await lastMessageId(agent, taskId);
  stopSignal.throwIfAborted();
  const intend = async (store: Store) => {
    const values = { sent_after_message_id: last, skill: turn.skill ?? deps.settings.skill ?? null };
    const intended = await store.turns.intendToSend(turn, values);
    if (intended !== undefined) return intended;
    await unlessStopped(store, turn);
    throw new TurnEnded('withdrawn', null);
  };
  return lockedIfForwarded(deps.store, turn, intend);
}

/** Looks for our message at the service: after the intent's last message, same content unless that was erased, bound to no other turn. */
async function lookForMessage({ deps, agent, taskId }: TaskWork, turn: Turn): Promise<ServiceLook<string>> {
  let listing = '';
  for await (const message of agent.messagesAfter(taskId, turn.sent_after_message_id || null, {
    readable: 'all',
  })) {
    listing = message.id;
    if (message.role !== 'user' || (turn.prompt !== null && !isSameText(message, turn.prompt))) continue;
    if (!(await deps.store.turns.isUserMessageBound(turn, message.id))) return { found: message.id, listing };
  }
  return { found: undefined, listing };
}

/** Whether a listed message says this; its spaces may have been tidied up, and the service may have added parts of its own. */
function isSameText(message: AgentMessage, prompt: string): boolean {
  const tidy = (text: string) => text.normalize('NFC').replace(/\s+/gu, ' ').trim();
  const [first] = message.content.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
  return [messageText(message), first ?? ''].some((text) => tidy(text) === tidy(prompt));
}

function recordDelivery(
  { deps, taskId }: TaskWork,
  turn: Turn,
  userMessageId: string,
  reply?: SendAnswer['reply'],
): Promise<Turn> {
  // A reply that names no message may be the one before: the list decides.
  const isNamed = reply?.input?.userMessageId === userMessageId;
  return deps.store.turns.recordSent(turn, {
    user_message_id: userMessageId,
    task_id: taskId,
    ...(isNamed && { assistant_message_id: reply.id }),
  });
}
