import { NO_LONGER_NEEDED } from '../../calls/retries-and-waits.ts';
import * as strings from '../../render/strings/index.ts';
import { MessageGoneError, type SlackError } from '../../slack/errors.ts';
import type { ThreadMessage } from '../../slack/message-history.ts';
import type { Message, ThreadKey } from '../../store/schema.ts';
import type { WaitingMessage } from '../../store/threads/messages.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { type AccessDenial, accessDenialUnder, isClosing } from '../access/access-policy.ts';
import { notifyWriter, refuseMessage, tellRefused } from '../access/refusals.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { messageContent } from '../runtime/incoming-message.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { withRetry } from '../runtime/retry-and-giving-up.ts';

/** How often it is looked whether a thread's messages are still held (ms). */
export const HELD_POLL_MS = 1_000;

/** A writer about whom Slack does not say more within this time (ms) is told that their message waits. */
const LOOKUP_MS = 2_000;

/** A message whose writer may use the agent, with what is set where it was written. */
export type AllowedMessage = WaitingMessage & { settings: Settings };

/**
 * The next of a thread's waiting messages (or the first one before the ts `before`) whose writer may use the agent; refuses
 * the ones before it whose writers may not, and those of which Slack keeps failing to say who wrote them, or what. Waits
 * while messages are held until their thread is read back (with `before` or `failFast`, there is none then), and while Slack does
 * not answer, or throws then with `failFast`. Throws an Interruption, or the lease's reason.
 */
export async function nextAllowedMessage(
  work: ThreadWork,
  thread: ThreadKey,
  { before, failFast = false }: { before?: string; failFast?: boolean } = {},
): Promise<AllowedMessage | undefined> {
  const { deps, workspace, lease } = work;
  const patiently: typeof withRetry = failFast ? (_work, step) => step() : withRetry;
  // Whoever is told that the place is closed is told once for all that they have waiting.
  const told = new Set<string>();
  for (;;) {
    const inForce = () => deps.store.settings.inForce(thread.workspace, thread.channel);
    const [message, settings] = await Promise.all([
      deps.store.messages.nextWaiting(thread, before),
      inForce(),
    ]);
    if (message === undefined) return undefined;
    if (message.is_held) {
      if (before !== undefined || failFast) return undefined;
      await sleepWithLease(HELD_POLL_MS, lease);
      continue;
    }
    let waited = false;
    const known = new AbortController();
    const onWait = () => {
      if (waited) return;
      waited = true;
      notifyWriter(deps, message, strings.waitingForIdentity, known.signal);
    };
    const isLate = failFast ? undefined : setTimeout(onWait, LOOKUP_MS);
    const verdict = async () => denialOf(work, message, waited ? await inForce() : settings);
    const denial = await patiently<AccessDenial | undefined>(work, verdict, {
      about: aboutMessage(message),
      onWait,
      orElse: () => 'unknown',
    }).finally(() => {
      clearTimeout(isLate);
      known.abort(NO_LONGER_NEEDED);
    });
    const isUnread = denial === undefined && message.content === null;
    const why = isUnread ? await readBack(work, message, patiently) : denial;
    // After a wait the message may have been deleted, and one that was read back may be gone.
    if (why === undefined && !waited && !isUnread) return { ...message, settings };
    if (why === undefined || !(await refuseMessage({ deps, workspace }, message, { why }))) continue;
    const closed = isClosing(why) ? `${message.user_id} ${why}` : undefined;
    if (closed !== undefined && told.has(closed)) continue;
    if ((await tellRefused(deps, message, why)) && closed !== undefined) told.add(closed);
  }
}

/** Why a message's writer may not use the agent under these settings, if so. */
function denialOf({ deps, workspace, lease }: ThreadWork, message: Message, settings: Settings) {
  const asker = { ...message, person: message.user_id };
  return accessDenialUnder(settings, deps, workspace.people, asker, lease.signal);
}

/** Reads a message's text from Slack; withdraws one that is gone. `unread` where Slack refuses it for good, or keeps failing. */
async function readBack(work: ThreadWork, message: Message, patiently: typeof withRetry) {
  const { store } = work.deps;
  const { channel, thread_ts: threadTs, ts, user_id } = message;
  const find = async () => {
    const found = await work.workspace.readBack.message({ channel, threadTs, ts, signal: work.lease.signal });
    return found?.user === user_id ? found : undefined;
  };
  const orElse = (error: SlackError) => (error instanceof MessageGoneError ? undefined : 'unread');
  const read = await patiently<ThreadMessage | 'unread' | undefined>(work, find, {
    about: aboutMessage(message),
    orElse,
  });
  if (read === 'unread') return read;
  if (read === undefined) await store.messages.withdraw(message);
  else
    await store.messages.updateContent(message, {
      content: messageContent(read),
      edited_ts: read.edited?.ts ?? ts,
      is_partial: false,
    });
  return undefined;
}

function aboutMessage({ workspace, channel, thread_ts, ts }: Message) {
  return { workspace, channel, thread_ts, message: ts };
}
