import {
  messageOfBlocks,
  mrkdwnContextBlock,
  type RenderedMessage,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import * as strings from '../../render/strings/index.ts';
import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Message } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { TurnLimits } from '../../store/threads/turn-usage.ts';
import { WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';
import { addresseeOf } from '../reading/listening.ts';
import { parseMessage } from '../reading/message-parser.ts';
import type { ChannelActor } from '../runtime/control-request.ts';
import type { RelayDeps, ThreadWork, WorkspaceClient } from '../runtime/deps.ts';
import { type InboxOutcome, isBotId, isDirectChannel } from '../runtime/incoming-message.ts';
import { inBackground } from '../runtime/poller.ts';
import { sendEphemeral, trySendEphemeral } from '../runtime/private-notices.ts';
import { type AccessDenial, isClosing, openPlaces, settingsBy } from './access-policy.ts';
import type { LackingRight } from './rights.ts';

/** The limit that another turn would exceed, and in how many ms, rounded up, it no longer would; null: when a turn ends. */
export interface QuotaExceeded {
  limit: keyof TurnLimits;
  most: number;
  waitMs: number | null;
}

/** Why a message is not sent to the agent: who wrote it, that Slack does not give its text, or how much they ask. */
export type Refusal =
  | { why: AccessDenial | LackingRight | 'unread' }
  | { why: 'limit'; exceeded: QuotaExceeded };

/**
 * The sentence that a person reads who is refused in a channel: about their message, or the form or command with which they
 * ask. It names everybody who can let them in. Throws a StoreError.
 */
export async function refusalTold(
  deps: Pick<RelayDeps, 'store' | 'settings'>,
  place: Pick<ChannelActor, 'workspace' | 'channel'>,
  refusal: Refusal,
  about: 'message' | 'form' = 'message',
): Promise<string> {
  if (refusal.why === 'limit') return strings.quotaReached(refusal.exceeded);
  if (refusal.why === 'unread') return strings.messageUnread;
  if (isClosing(refusal.why)) return strings.closedPlaces[refusal.why];
  if (refusal.why === 'outsider' || refusal.why === 'hidden') return strings.controlRefused[refusal.why];
  const isForm = about === 'form';
  if (refusal.why === 'unknown') return isForm ? strings.controlRefused.unknown : strings.personUnknown;
  const isSettable = place.channel !== WHOLE_WORKSPACE && !isDirectChannel(place.channel);
  const letIn = isSettable ? await settingsBy(deps, place) : 'admins';
  return isForm ? strings.noAccess[letIn] : strings.notAllowed[letIn];
}

/** A refusal's details in the audit trail. */
export function refusalAuditDetails(refusal: Refusal): Record<string, string | number> {
  if (refusal.why !== 'limit') return { why: refusal.why };
  const { limit, most } = refusal.exceeded;
  return { why: 'limit', limit, most };
}

/** Refuses a waiting message: deletes its text, and gives up the thread that it began. False if it no longer waits. */
export async function refuseMessage(
  { deps, workspace }: Pick<ThreadWork, 'deps' | 'workspace'>,
  message: Message,
  refusal: Refusal,
): Promise<boolean> {
  const { channel, thread_ts, ts, user_id } = message;
  const thread = { workspace: workspace.id, channel, thread_ts };
  const details = { ...refusalAuditDetails(refusal), message: ts };
  const isRefused = await deps.store.transaction(async (store) => {
    await store.threads.lock(thread);
    // A file that an app shares in a thread names its user alone: it is quoted, like all that apps say there.
    const state = refusal.why === 'bot' && ts !== thread_ts ? 'unsent' : 'refused';
    if (!(await store.messages.refuse(message, state))) return false;
    // The button that made the message may be pressed again.
    await store.turns.releaseButton(message);
    await store.pendingEdits.release(message);
    await giveUpThread(store, workspace, message);
    await store.audit.addRefusal({ workspace: workspace.id, user_id, channel, thread_ts, details });
    return true;
  });
  if (isRefused) deps.log.info({ ...thread, ...details, person: user_id }, 'message refused');
  return isRefused;
}

/**
 * Tells the writer of a refused message why, in the background; of one in a closed place that nobody saw waiting, only if they
 * were not told before. Whether they are told. Throws a StoreError.
 */
export async function tellRefused(
  deps: RelayDeps,
  message: Message,
  why: AccessDenial | 'unread',
): Promise<boolean> {
  const { workspace, channel, thread_ts, ts, user_id } = message;
  const { jobs, channels } = deps.store;
  const mark = { workspace, kind: JOB_KIND.waitingReaction, channel, thread_ts, key: ts };
  const mayKnow = isClosing(why) && !isBotId(user_id) && (await jobs.get(mark)) === undefined;
  if (mayKnow && !(await channels.claimClosedNotice(workspace, channel, user_id))) return false;
  const tell = async () => {
    const sentence = await refusalTold(deps, message, { why });
    notifyWriter(deps, message, isClosing(why) ? await closedNotice(deps, workspace, sentence) : sentence);
  };
  inBackground(tell(), deps.log, 'could not tell why a message was refused');
  return true;
}

/** Sends a message's writer an ephemeral message, if Slack lets us before `signal`. */
export function notifyWriter(
  deps: RelayDeps,
  message: Message,
  sentence: string | RenderedMessage,
  signal?: AbortSignal,
): void {
  const { workspace, channel, thread_ts, ts, user_id } = message;
  // Slack does not show an ephemeral reply below a message without replies.
  const threadTs = thread_ts === ts ? undefined : thread_ts;
  trySendEphemeral(deps, { workspace, channel, person: user_id, threadTs, signal }, sentence);
}

/** Gives up the thread that a refused message began: another mention begins it again, mere replies are orphans. */
async function giveUpThread(store: Store, workspace: WorkspaceClient, refusedMessage: Message) {
  const { workspace: id, channel, thread_ts } = refusedMessage;
  const thread = { workspace: id, channel, thread_ts };
  const current = await store.threads.get(thread);
  if (current === undefined || current.task_id !== null || current.adopted_ts !== refusedMessage.ts) return;
  if (await store.turns.hasTurnSince(thread, refusedMessage.ts)) return;
  await store.threads.makeDormant(thread);
  for (;;) {
    const next = await store.messages.nextWaiting(thread);
    if (next === undefined) return;
    if (isAddressedToBot(workspace, next)) {
      const { account_id } = current;
      await store.threads.adopt(thread, { account_id, user_id: next.user_id, ts: next.ts });
      return;
    }
    await store.messages.remove(next);
    await store.orphanReplies.add(thread, next.ts);
  }
}

/** Whether a message is for the bot even if its thread is not: by what it says, or because a form made it. */
function isAddressedToBot({ bot }: WorkspaceClient, message: Message): boolean {
  const content = message.content ?? { text: '' };
  return (
    content.choices !== undefined ||
    addresseeOf({ ...message, person: message.user_id }, parseMessage(content), bot.userId) === 'bot'
  );
}

/** That the bot does not answer in a place, and where it does. Throws a StoreError. */
async function closedNotice(deps: RelayDeps, workspace: string, sentence: string): Promise<RenderedMessage> {
  const where = await openPlaces(deps, workspace);
  const below = where === '' ? [] : [mrkdwnContextBlock(where)];
  return messageOfBlocks([sectionBlock(sentence), ...below]);
}

/** Tells a person who writes to the bot where it does not answer, once in each place. Throws a StoreError or a SlackError. */
export async function tellIfClosed(
  deps: RelayDeps,
  outcome: InboxOutcome,
  { workspace, channel, person, ts }: ChannelActor & { ts: string },
): Promise<void> {
  if (outcome.kind !== 'closed' || isBotId(person)) return;
  if (!(await deps.store.channels.claimClosedNotice(workspace, channel, person))) return;
  const threadTs = outcome.thread.thread_ts === ts ? undefined : outcome.thread.thread_ts;
  const message = await closedNotice(deps, workspace, strings.closedPlaces[outcome.by]);
  const post = { channel, threadTs, message, key: `closed/${ts}`, kind: 'notice' } as const;
  if (isDirectChannel(channel)) await deps.workspace(workspace)?.posting.post(post);
  else await sendEphemeral(deps, { workspace, channel, person, threadTs }, message);
}
