import type { AgentClient } from '../../agent/agent-client.ts';
import { AgentError, AgentNotFoundError, isBusy, undefinedIfNotFound } from '../../agent/errors.ts';
import { type Message as AgentMessage, messageText, type SendResult } from '../../agent/service-schema.ts';
import { anySignal, NO_LONGER_NEEDED, sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import type { Turn } from '../../store/schema.ts';
import { isSendInDoubt } from '../../store/threads/turn-phase.ts';
import type { TaskWork } from '../runtime/deps.ts';
import { throwIfInterrupted } from '../runtime/lease.ts';
import type { FailingTime } from '../runtime/retry-and-giving-up.ts';
import { TurnEnded } from '../runtime/turn-exceptions.ts';
import type { TurnRow } from '../runtime/turn-row.ts';
import { once, type ServiceLook, searchUntilSettled } from '../runtime/unknown-outcome.ts';

/** How often the task's messages are listed while the service holds a send open (ms). */
const LIST_POLL_INTERVAL_MS = 1_000;
/** A send that is open for this long (ms) without its message in the task's list is given up. */
const SEND_WINDOW_MS = 600_000;

/** A turn whose message goes to a task. */
export interface Delivery extends TaskWork {
  readonly row: TurnRow;
}

/** The id of a task's last message; '' without any. */
export async function lastMessageId(agent: AgentClient, taskId: string): Promise<string> {
  return (await agent.lastMessage(taskId))?.id ?? '';
}

/**
 * What the error of a send means: a TurnEnded if the task is closed or the skill is unknown; else the error itself. A task
 * also counts as closed once the service has for too long called it busy although it does not run (`busyAtRest`). That
 * time is shorter after **Try again**, because then the thread `mayLeave` the task.
 */
export async function refusalOf(
  error: unknown,
  { agent, taskId, deps, row }: Delivery,
  { busyAtRest, mayLeave }: { busyAtRest: Pick<FailingTime, 'count'>; mayLeave: boolean },
): Promise<unknown> {
  if (isBusy(error)) {
    const { status } = await agent.getTask(taskId);
    const busyMs = await busyAtRest.count(() => status !== 'running');
    const maxBusyMs = deps.settings[mayLeave ? 'refusalMs' : 'badThingMs'];
    const isClosed = status === 'failed' || status === 'cancelled' || busyMs >= maxBusyMs;
    if (!isClosed) return error; // A busy task becomes free again.
    return new TurnEnded('refused', strings.taskClosed, { cause: error, isTaskClosed: true });
  }
  const skill = row.turn.skill ?? deps.settings.skill;
  if (!(error instanceof AgentNotFoundError) || skill === undefined) return error;
  // Of a task that is gone, the error says nothing about the skill.
  if ((await undefinedIfNotFound(() => agent.getTask(taskId))) === undefined) return error;
  const isChosen = skill !== deps.settings.skill;
  const offer = isChosen && { offer: 'choose' as const };
  return new TurnEnded('refused', strings.unknownSkill(skill, isChosen), { cause: error, ...offer });
}

/**
 * Finds out whether sends in doubt reached the service: the turn's own, and those of `resent`, the turns whose message it
 * sends again. Searches until the list of the task's messages has settled. Records a message that was found as this
 * turn's; else that none of the turns has sent one. Throws an AgentError, an Interruption, or the lease's reason.
 */
export async function settleSends(task: Delivery, resent: readonly Turn[] = []): Promise<void> {
  const { row, lease, deps } = task;
  // If this process knows that it made no call for the turn, it only takes the turn's intent back.
  const doubted = row.needsSearch ? [row.turn, ...resent] : resent;
  const look = async () => {
    let listing = '';
    for (const turn of doubted) {
      const seen = await lookForMessage(task, turn);
      if (seen.found !== undefined) return seen;
      listing = seen.listing; // Each look goes to the end of the task's list.
    }
    return { found: undefined, listing };
  };
  const { resendMs } = deps.settings;
  const messageId = doubted.length === 0 ? undefined : await searchUntilSettled(look, resendMs, lease);
  if (messageId !== undefined) return recordDelivery(task, messageId);
  // Without the lease the intent may belong to the process that has the turn now.
  throwIfInterrupted(lease);
  for (const turn of resent) await deps.store.turns.record(turn, { send_intended_at: null });
  if (isSendInDoubt(row.turn)) await row.record({ send_intended_at: null });
}

/**
 * Sends a turn's message exactly once. Records the intent before the call, unless it was recorded with the content, and
 * then the ids of the message and, if the service names it, of the reply. Throws an AgentError: if its outcome is
 * `unknown`, settle the send before another call. Throws the reason of `stopSignal`, or what an earlier stop throws.
 */
export async function deliverOnce(task: Delivery, stopSignal: AbortSignal): Promise<void> {
  const { row, lease } = task;
  if (!isSendInDoubt(row.turn)) await recordIntent(task, stopSignal);
  row.mayHaveSent = true;
  const ifNoEffect = () => {
    row.mayHaveSent = false;
    return row.record({ send_intended_at: null });
  };
  const answer = await once({ act: () => sendAndAwait(task), ifNoEffect }, lease);
  const id = answer.id ?? (await lookForMessage(task, row.turn)).found;
  if (id === undefined) throw answer.error ?? notListedError('not_understood');
  return recordDelivery(task, id, answer.reply);
}

/** Sends the message, and waits until the service answers or lists it: the call may stay open for long. */
async function sendAndAwait(task: Delivery): Promise<SendAnswer> {
  const { row, agent, taskId, lease } = task;
  const { prompt, attached_file_ids: fileIds, skill } = row.turn;
  const body = { content: prompt ?? '', fileIds: fileIds ?? [], ...(skill !== null && { skill }) };
  const sendWindow = new AbortController();
  // A timer of `AbortSignal.timeout` would keep all that listens for it until its end.
  const timer = setTimeout(() => sendWindow.abort(), SEND_WINDOW_MS);
  const polling = new AbortController();
  const signal = anySignal([sendWindow.signal, lease.signal]);
  const sending = agent
    .sendMessage(taskId, body, { guard: lease, signal })
    .then(readSendResult, readUnreadable)
    .finally(() => clearTimeout(timer));
  try {
    return await Promise.race([sending, pollUntilListed(task, anySignal([signal, polling.signal]))]);
  } catch (error) {
    const isOverdue = error instanceof AgentError && error.code === 'aborted' && sendWindow.signal.aborted;
    throw isOverdue ? notListedError('unavailable', error) : error;
  } finally {
    polling.abort(NO_LONGER_NEEDED);
    // Once the message is listed, the answer to a call that is still open does not matter.
    sending.catch(() => undefined);
  }
}

/**
 * The error of a send whose message the task does not list. `unavailable`: the service did not answer the call either.
 * `not_understood`: the answer named no message. The step is repeated, and begins with a search.
 */
function notListedError(code: 'not_understood' | 'unavailable', cause?: AgentError): AgentError {
  const sentence = "The message is not in the task's list. It is looked up again before it is resent.";
  return new AgentError(code, { sentence, outcome: cause?.outcome ?? 'unknown', cause });
}

/** What is known of our message after the call that sends it. */
interface SendAnswer {
  /** The id of our message; undefined if it must be looked for in the task's list. */
  id: string | undefined;
  /** The reply, if the service has named it, without its text, which may be long. */
  reply?: Pick<AgentMessage, 'id' | 'input'> | null;
  /** Says that the call's answer was unreadable. */
  error?: AgentError;
}

function readSendResult({ userMessage, assistantMessage: reply }: SendResult): SendAnswer {
  // If the reply names another message, one of the two is wrong: the task's list says which message is ours.
  const repliedTo = reply?.input?.userMessageId ?? userMessage?.id;
  return { id: repliedTo === userMessage?.id ? repliedTo : undefined, reply };
}

/** What is known after an answer that was unreadable, if the service may have taken the message. Throws other errors. */
function readUnreadable(error: unknown): SendAnswer {
  const isUnreadable = error instanceof AgentError && error.code === 'not_understood';
  if (!isUnreadable || error.outcome !== 'unknown') throw error;
  return { id: undefined, error };
}

/** Lists the task's messages again and again while a send is open, until ours is there. Never resolves once aborted. */
async function pollUntilListed(task: Delivery, signal: AbortSignal): Promise<SendAnswer> {
  for (;;) {
    await sleepUnlessAborted(LIST_POLL_INTERVAL_MS, signal);
    if (signal.aborted) return new Promise(() => undefined);
    const look = await lookForMessage(task, task.row.turn).catch(() => undefined);
    if (look?.found !== undefined) return { id: look.found };
  }
}

/**
 * Records that the message is about to be sent, and the task's last message, behind which a later search begins. Throws
 * TurnEnded if the turn was stopped or is gone; an Interruption if the message was to go to a run that was stopped.
 */
async function recordIntent({ deps, agent, taskId, row }: Delivery, stopSignal: AbortSignal): Promise<void> {
  const last = await lastMessageId(agent, taskId);
  stopSignal.throwIfAborted();
  const values = { sent_after_message_id: last, skill: row.turn.skill ?? deps.settings.skill ?? null };
  if (await row.writeUnlessStopped(({ turns }) => turns.intendToSend(row.turn, values))) return;
  // No row was written: the turn was stopped, which throws here, or is gone.
  await row.readUnlessStopped();
  throw new TurnEnded('withdrawn', null);
}

/**
 * Looks for a turn's message at the service: a user message that says the same, or any if the turn's words were erased, and
 * that is no other turn's. Begins behind the last message that the task had when the turn recorded its intent.
 */
async function lookForMessage({ deps, agent, taskId }: TaskWork, turn: Turn): Promise<ServiceLook<string>> {
  let listing = '';
  const messages = agent.messagesAfter(taskId, turn.sent_after_message_id || null, { readable: 'all' });
  for await (const message of messages) {
    listing = message.id;
    if (message.role !== 'user' || (turn.prompt !== null && !isSameText(message, turn.prompt))) continue;
    if (!(await deps.store.turns.isUserMessageBound(turn, message.id))) return { found: message.id, listing };
  }
  return { found: undefined, listing };
}

/** Whether a listed message says what the prompt does. The service may have tidied up spaces, and added its own parts. */
function isSameText(message: AgentMessage, prompt: string): boolean {
  const tidy = (text: string) => text.normalize('NFC').replace(/\s+/gu, ' ').trim();
  const [first] = message.content.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
  return [messageText(message), first ?? ''].some((text) => tidy(text) === tidy(prompt));
}

function recordDelivery({ row, taskId }: Delivery, id: string, reply?: SendAnswer['reply']): Promise<void> {
  // A reply that does not name our message may be the reply to the one before. Ours is then looked for later.
  const ours = reply?.input?.userMessageId === id ? { assistant_message_id: reply.id } : {};
  return row.recordSent({ user_message_id: id, task_id: taskId, ...ours });
}
