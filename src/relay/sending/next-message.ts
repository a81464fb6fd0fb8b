import { NO_LONGER_NEEDED } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import { MessageGoneError, type SlackError } from '../../slack/errors.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import type { Message, MessageContent, ThreadKey } from '../../store/schema.ts';
import type { WaitingMessage } from '../../store/threads/messages.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { type AccessDenial, accessDenialUnder, isClosing } from '../access/access-policy.ts';
import { MOST_OF_BOTS } from '../access/quotas.ts';
import { notifyWriter, refuseMessage, tellRefused } from '../access/refusals.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { isBotId, messageContent } from '../runtime/incoming-message.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { withRetry } from '../runtime/retry-and-giving-up.ts';

/** How often a turn looks whether the messages of its thread are still held (ms). */
export const HELD_POLL_MS = 1_000;

/** A message whose writer may use the agent, with what is set where it was written. Its content is known. */
export type AllowedMessage = WaitingMessage & { content: MessageContent; settings: Settings };

/**
 * The next of a thread's waiting messages whose writer may use the agent: urgent ones first, then by ts; with `before`,
 * only those before that ts. Refuses each message that it passes over: its writer may not use the agent, or Slack keeps
 * failing to say who wrote it, or what it says. Waits while the next message is held until its thread is read back, and
 * while Slack does not answer. With `before` or `failFast`, a held message counts as none. With `failFast`, it throws if
 * Slack does not answer. Throws an Interruption, or the lease's reason.
 */
export async function nextAllowedMessage(
  work: ThreadWork,
  thread: ThreadKey,
  { before, failFast = false }: { before?: string; failFast?: boolean } = {},
): Promise<AllowedMessage | undefined> {
  const { deps, lease } = work;
  const attempt: typeof withRetry = failFast ? (_work, step) => step() : withRetry;
  // If Slack has not said by then who the writer is, the writer is told that the message waits.
  const lateAfterMs = failFast ? undefined : deps.settings.lookupMs;
  const toldOnce = new Set<string>();
  for (;;) {
    const [message, settings] = await Promise.all([
      deps.store.messages.nextWaiting(thread, before),
      deps.store.settings.inForce(thread.workspace, thread.channel),
    ]);
    if (message === undefined) return undefined;
    if (message.is_held) {
      if (before !== undefined || failFast) return undefined;
      await sleepWithLease(HELD_POLL_MS, lease);
      continue;
    }
    const { denial, hasWaited } = await denialOf(work, message, settings, attempt, lateAfterMs);
    const { content } = message;
    const why = denial ?? (content === null ? await readBackAndSave(work, message, attempt) : undefined);
    if (why !== undefined) await refuse(work, message, why, toldOnce);
    // After a wait, or once it was read back, the message is looked for again, because it may be gone.
    else if (!hasWaited && content !== null) return { ...message, content, settings };
  }
}

/**
 * Why a message's writer may not use the agent, if so (`unknown`: Slack refuses to say). `hasWaited`: Slack did not answer
 * for a while, in which the writer was told that the message waits. The message may have changed since.
 */
async function denialOf(
  work: ThreadWork,
  message: Message,
  settings: Settings,
  attempt: typeof withRetry,
  lateAfterMs: number | undefined,
): Promise<{ denial: AccessDenial | undefined; hasWaited: boolean }> {
  const { deps, workspace, lease } = work;
  const asker = { ...message, person: message.user_id };
  const answeredOrFailed = new AbortController();
  let hasWaited = false;
  const tellOfWait = () => {
    if (hasWaited) return;
    hasWaited = true;
    notifyWriter(deps, message, strings.waitingForIdentity, answeredOrFailed.signal);
  };
  const findDenial = async () => {
    const now = hasWaited ? await deps.store.settings.inForce(message.workspace, message.channel) : settings;
    const denial = await accessDenialUnder(now, deps, workspace.people, asker, lease.signal);
    if (denial !== undefined || !isBotId(message.user_id)) return denial;
    // Bots have asked so much here that a person must write first: refused like a bot that may not ask.
    return (await deps.store.turnUsage.areBotsAlone(message, MOST_OF_BOTS)) ? 'bot' : undefined;
  };
  using _lateTimer = lateAfterMs === undefined ? undefined : setTimeout(tellOfWait, lateAfterMs);
  try {
    const retrying = { about: aboutMessage(message), onWait: tellOfWait, orElse: () => 'unknown' as const };
    return { denial: await attempt<AccessDenial | undefined>(work, findDenial, retrying), hasWaited };
  } finally {
    answeredOrFailed.abort(NO_LONGER_NEEDED);
  }
}

/** Refuses a message and tells its writer. That a place is closed, each writer is told once: `toldOnce` has who was. */
async function refuse(
  { deps, workspace }: ThreadWork,
  message: Message,
  why: AccessDenial | 'unread',
  toldOnce: Set<string>,
): Promise<void> {
  if (!(await refuseMessage({ deps, workspace }, message, { why }))) return;
  const onceKey = isClosing(why) ? `${message.user_id} ${why}` : undefined;
  if (onceKey !== undefined && toldOnce.has(onceKey)) return;
  if ((await tellRefused(deps, message, why)) && onceKey !== undefined) toldOnce.add(onceKey);
}

/** Saves what Slack has of a message, or withdraws a message that is gone. Returns `unread` if Slack refuses to show it. */
async function readBackAndSave(work: ThreadWork, message: Message, attempt: typeof withRetry) {
  const { store } = work.deps;
  const { channel, thread_ts: threadTs, ts, user_id } = message;
  const find = async () => {
    const found = await work.workspace.readBack.message({ channel, threadTs, ts, signal: work.lease.signal });
    // A deleted message may leave a tombstone, which has another user.
    return found?.user === user_id ? found : undefined;
  };
  const orElse = (error: SlackError) => (error instanceof MessageGoneError ? undefined : 'unread');
  const retrying = { about: aboutMessage(message), orElse };
  const read = await attempt<ThreadMessage | 'unread' | undefined>(work, find, retrying);
  if (read === 'unread') return read;
  if (read === undefined) await store.messages.withdraw(message);
  else {
    // With its own ts as the edit's, what was read counts as newer than any unedited copy in an event.
    const update = { content: messageContent(read), edited_ts: read.edited?.ts ?? ts, is_partial: false };
    await store.messages.updateContent(message, update);
  }
  return undefined;
}

/** What the log says of a message, as `Retrying.about`. */
function aboutMessage({ workspace, channel, thread_ts, ts }: Message) {
  return { workspace, channel, thread_ts, message: ts };
}
