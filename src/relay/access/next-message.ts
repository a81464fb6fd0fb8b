import * as strings from '../../render/strings/index.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Message } from '../../store/schema.ts';
import type { WaitingMessage } from '../../store/threads/messages.ts';
import type { ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { isEarlierTs, messageContent } from '../runtime/incoming-message.ts';
import { sleepWithLease, type WaitCause, withRetry } from '../runtime/retry.ts';
import { accessDenialFor } from './access-policy.ts';
import { notifyWriter, refuseMessage } from './refusals.ts';

/** How often it is looked whether a thread's messages are still held (ms). */
export const HELD_POLL_MS = 1_000;

/**
 * Of a thread's waiting messages, the one with the lowest ts (lower than `before`) whose writer may use the agent; refuses
 * the ones before it whose writers may not. Waits while messages are held after a gap in receiving (with `before` or
 * `failFast`, there is none then), and while Slack does not say who a person is, or throws then with `failFast`. Throws
 * HandOver, or the lease's reason.
 */
export async function nextAllowedMessage(
  { deps, workspace, lease }: ThreadWork,
  thread: ThreadKey,
  { before, failFast = false }: { before?: string; failFast?: boolean } = {},
): Promise<WaitingMessage | undefined> {
  for (;;) {
    const message = await deps.store.messages.nextWaiting(thread);
    if (message === undefined || (before !== undefined && !isEarlierTs(message.ts, before))) return undefined;
    if (message.is_held) {
      if (before !== undefined || failFast) return undefined;
      await sleepWithLease(HELD_POLL_MS, lease);
      continue;
    }
    let waited = false;
    const check = () =>
      accessDenialFor(deps, workspace.people, { ...message, person: message.user_id }, lease.signal);
    const onWait = (cause: WaitCause | undefined, error: unknown) => {
      if (cause === undefined || waited) return;
      waited = true;
      const { workspace: id, channel, thread_ts } = thread;
      deps.log.warn(
        { workspace: id, channel, thread_ts, err: error },
        'waiting for Slack to say who wrote a message',
      );
      notifyWriter(deps, message, strings.waitingForIdentity);
    };
    const denial = await (failFast ? check() : withRetry(lease, check, onWait));
    const isUnread = denial === undefined && message.content === null;
    if (isUnread) await readBack(deps, workspace, message, lease.signal);
    else if (denial !== undefined) await refuseMessage({ deps, workspace }, message, { why: denial });
    // After a wait the message may have been deleted, and one that was read back may be gone.
    else if (!waited) return message;
  }
}

/** Reads the text of a message that was not sent at first from Slack; withdraws it where Slack no longer has it. */
async function readBack(
  { store }: Pick<ThreadWork['deps'], 'store'>,
  { readBack: history }: WorkspaceClient,
  message: Message,
  signal: AbortSignal,
): Promise<void> {
  const { channel, thread_ts: threadTs, ts, user_id } = message;
  for await (const read of history.messages({ channel, threadTs, oldest: ts, latest: ts, signal })) {
    if (read.ts === ts && read.user === user_id)
      return void (await store.messages.updateContent(message, messageContent(read), ts));
  }
  await store.messages.withdraw(message);
}
