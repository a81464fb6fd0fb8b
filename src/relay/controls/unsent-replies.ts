import { randomUUID } from 'node:crypto';
import { timeLimit } from '../../calls/retries-and-waits.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { MessageKey, ThreadKey } from '../../store/schema.ts';
import { recordRefusal } from '../access/access-policy.ts';
import { mayUseControl } from '../access/control-permission.ts';
import { isSettingTooOften } from '../access/quotas.ts';
import { refusalTold } from '../access/refusals.ts';
import { useDenial } from '../access/rights.ts';
import type {
  ButtonHandlers,
  ChannelActor,
  ControlOutcome,
  MessagePress,
  PressAnswer,
} from '../runtime/control-request.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxOutcome } from '../runtime/incoming-message.ts';
import { sendEphemeral } from '../runtime/private-notices.ts';
import { updatePausedNoticeSoon } from './paused-messages.ts';
import { fateOf } from './send-now-and-corrections.ts';

/** The buttons that send an unsent reply, send it and all later replies of its thread, or send no later ones any more. */
export function unsentReplyButtons(
  deps: RelayDeps,
): ButtonHandlers<'send_reply' | 'keep_listening' | 'stop_listening'> {
  return {
    send_reply: (press) => sendReply(deps, press),
    keep_listening: async (press) => {
      const setting = await setListening(deps, press, 'keep_listening');
      // The reply is also sent if somebody else has asked for the later replies before.
      return setting === 'done' || setting === 'over' ? sendReply(deps, press) : setting;
    },
    stop_listening: (press) => setListening(deps, press, 'stop_listening'),
  };
}

/** Tells a writer, once in each thread, that a reply was not sent, or that they may not ask. Throws a SlackError. */
export async function tellOfUnsentReply(
  deps: RelayDeps,
  outcome: InboxOutcome,
  { ts, ...writer }: ChannelActor & MessageKey,
): Promise<void> {
  if (outcome.kind !== 'unsent') return;
  const { thread } = outcome;
  if (!(await deps.store.threads.claimInforming(thread, writer.person))) return;
  const why = await useDenial(deps, writer, 'anywhere', timeLimit(deps.settings.lookupMs));
  // If Slack did not say whether they may, a press asks again.
  const note =
    why === undefined || why === 'unknown'
      ? noteWithButtons(strings.replyNotSent, ['send_reply', 'keep_listening'], ts)
      : await refusalTold(deps, writer, { why });
  await sendEphemeral(deps, { ...writer, threadTs: thread.thread_ts }, note).catch(async (error: unknown) => {
    await deps.store.threads.releaseInforming(thread, writer.person);
    throw error;
  });
}

/** Sends the reply of the person who presses. `over`: it waits no more. `late`: Slack does not say whether they may. */
async function sendReply(deps: RelayDeps, press: MessagePress): Promise<ControlOutcome | PressAnswer> {
  const thread = threadOf(press);
  if (thread === undefined) return 'unknown';
  // The press shows that they are in the channel.
  const why = await useDenial(deps, press, 'acting', timeLimit(deps.settings.lookupMs));
  // 'form': the sentence asks to press again. That about a message would ask to send it again.
  if (why === 'unknown') return { outcome: 'late', told: await refusalTold(deps, press, { why }, 'form') };
  if (why !== undefined) {
    await recordRefusal(deps, { ...thread, person: press.person }, { control: 'send_reply', why });
    return { outcome: 'refused', replacement: { text: await refusalTold(deps, press, { why }), blocks: [] } };
  }
  const key = { ...thread, ts: press.messageTs };
  const isSent = await deps.store.transaction(async (store) => {
    if (!(await store.messages.sendAfterAll(key, press.person))) return false;
    await deps.enqueue(store, thread);
    return true;
  });
  if (isSent) updatePausedNoticeSoon(deps, key);
  // Of a reply that a press has sent before, the person reads what has become of it.
  const { told = strings.sendingReply } = await fateOf(deps, key, strings.sendingReply);
  return { outcome: isSent ? 'done' : 'over', told };
}

/** Sets whether all replies of a thread are sent, and says so there. `over` if it was set before, or is set too often. */
async function setListening(
  deps: RelayDeps,
  press: MessagePress,
  control: 'keep_listening' | 'stop_listening',
): Promise<ControlOutcome | PressAnswer> {
  const { store, log } = deps;
  const { person } = press;
  const thread = threadOf(press);
  if (thread === undefined) return 'unknown';
  const listensToAll = control === 'keep_listening';
  if (!(await mayUseControl(deps, { ...thread, person, control }))) return 'refused';
  // What was turned on may always be turned off again.
  if (listensToAll && (await isSettingTooOften(store, press)))
    return { outcome: 'over', told: strings.channelSettingsFailed.tooOften };
  const isChanged = await store.transaction(async (within) => {
    if (!(await within.threads.setListensToAll(thread, listensToAll))) return false;
    await within.audit.add({ ...thread, kind: 'setting', user_id: person, details: { control } });
    const payload = { every_reply: listensToAll };
    await within.jobs.add({ ...thread, kind: JOB_KIND.channelNotice, key: randomUUID(), person, payload });
    return true;
  });
  if (!isChanged) return 'over';
  log.info({ ...thread, person, control }, 'what a thread is read for has changed');
  return 'done';
}

function threadOf({ workspace, channel, threadTs }: MessagePress): ThreadKey | undefined {
  return threadTs === undefined ? undefined : { workspace, channel, thread_ts: threadTs };
}
