import { anySignal } from '../../calls/retries-and-waits.ts';
import { SlackError } from '../../slack/errors.ts';
import type { Message } from '../../store/schema.ts';
import type { WholeMessage } from '../../store/threads/messages.ts';
import { messageUpdate } from '../reading/message-versions.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { messageContent } from '../runtime/incoming-message.ts';
import { sleepWithLease } from '../runtime/lease.ts';
import { wholeMessage } from './outgoing-message.ts';

/** How soon a message's own event follows its app_mention (ms), and how often it is looked for. */
const OTHER_COPY_MS = { most: 1_500, poll: 100 };
/** How long reading a message may take (ms): an app that Slack lets read once a minute goes on without. */
const READ_MS = 5_000;

/**
 * A message of which only the app_mention came, as it is once its other copy has come too. If none comes, it is read back
 * from Slack once. Throws an Interruption, or the lease's reason.
 */
export async function completed(work: ThreadWork, { parts }: WholeMessage): Promise<WholeMessage> {
  const [message, ...others] = parts;
  return wholeMessage(await completedAlone(work, message), others);
}

async function completedAlone(work: ThreadWork, message: Message): Promise<Message> {
  const { messages } = work.deps.store;
  const sinceMs = Math.max(0, Date.now() - message.received_at.getTime());
  const end = performance.now() + OTHER_COPY_MS.most - sinceMs;
  let now = message;
  const isLacking = () => now.is_partial && now.state === 'waiting';
  while (isLacking() && performance.now() < end) {
    await sleepWithLease(OTHER_COPY_MS.poll, work.lease);
    now = (await messages.get(message)) ?? now;
  }
  if (!isLacking() || now.content === null) return now;
  await messages.updateContent(now, await readBack(work, now, { ...now, content: now.content }));
  return (await messages.get(message)) ?? now;
}

async function readBack(
  { workspace, deps, lease }: ThreadWork,
  { channel, thread_ts: threadTs, ts, user_id }: Message,
  known: Parameters<typeof messageUpdate>[0],
) {
  const signal = anySignal([lease.signal, AbortSignal.timeout(READ_MS)]);
  try {
    const read = await workspace.readBack.message({ channel, threadTs, ts, signal });
    if (read?.user === user_id)
      return messageUpdate(
        known,
        { content: messageContent(read), edited_ts: read.edited?.ts ?? null },
        false,
      );
  } catch (error) {
    lease.signal.throwIfAborted();
    if (!(error instanceof SlackError) && !signal.aborted) throw error;
    deps.log.warn({ channel, ts, err: error }, 'a message goes as its app_mention showed it');
  }
  return { ...known, is_partial: false };
}
