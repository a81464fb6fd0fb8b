import * as strings from '../../render/strings/index.ts';
import type { Message } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { QuotaExceeded } from '../../store/threads/turn-usage.ts';
import { WAITING_EMOJI } from '../controls/waiting-reactions.ts';
import { readMentions } from '../reading/mentions.ts';
import { parseMessage } from '../reading/message-parser.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import { trySendEphemeral } from '../runtime/ephemeral-messages.ts';
import { isDirectChannel } from '../runtime/incoming-message.ts';
import type { AccessDenial } from './access-policy.ts';

/** Why a message is not for the agent: who wrote it, or how much they ask. */
export type Refusal = { why: AccessDenial } | { why: 'limit'; exceeded: QuotaExceeded };

/** The one sentence that the refused person reads. */
export function refusalSentence(refusal: Refusal): string {
  if (refusal.why === 'limit') return strings.quotaReached(refusal.exceeded);
  return refusal.why === 'unknown' ? strings.personUnknown : strings.notAllowed;
}

/** What the trail says of a refusal. */
export function refusalAuditDetails(refusal: Refusal): Record<string, string | number> {
  if (refusal.why !== 'limit') return { why: refusal.why };
  const { limit, most } = refusal.exceeded;
  return { why: 'limit', limit, most };
}

/** Refuses a waiting message: its words go, its thread is given up where it began it, its writer is told. */
export async function refuseMessage(
  deps: RelayDeps,
  workspace: WorkspaceClient,
  message: Message,
  refusal: Refusal,
): Promise<void> {
  const { channel, root, ts, person } = message;
  const thread = { workspace: workspace.id, channel, root };
  const details = { ...refusalAuditDetails(refusal), message: ts };
  const refused = await deps.store.transaction(async (store) => {
    await store.threads.lock(thread);
    const isFirst = !(await store.messages.wasRefused(thread, person));
    if (!(await store.messages.refuse(message))) return undefined;
    // The button that made it may be pressed again.
    await store.turns.releaseButton(message);
    await store.messages.releaseEarlyEdit(message);
    const dropped = await giveUpThread(store, workspace, message);
    await store.audit.add({ workspace: workspace.id, kind: 'refusal', person, channel, root, details });
    return { isFirst, dropped };
  });
  if (refused === undefined) return;
  deps.log.info({ ...thread, ...details, person }, 'a message was refused');
  for (const { ts: messageTs } of refused.dropped.filter((one) => one.marked))
    await workspace.posting.removeReaction({ channel, ts: messageTs, name: WAITING_EMOJI });
  // Whoever goes on talking in the channel without the bot in mind is told once.
  if (!refused.isFirst && !isAddressedToBot(workspace, message) && refusal.why !== 'limit') return;
  notifyWriter(deps, message, refusalSentence(refusal));
}

/** Tells a message's writer something, as far as Slack lets us. */
export function notifyWriter(deps: RelayDeps, message: Message, sentence: string): void {
  const { workspace, channel, root, ts, person } = message;
  // What stands below a message without replies is not seen.
  const threadTs = root === ts ? undefined : root;
  trySendEphemeral(deps, { workspace, channel, person, threadTs }, sentence);
}

/**
 * A thread that a refused message began is not ours. What waits in it is what the inbox would have made of it then:
 * a mention begins the thread anew, a mere reply is a stray. The answer is what was dropped.
 */
async function giveUpThread(
  store: Store,
  workspace: WorkspaceClient,
  refusedMessage: Message,
): Promise<Message[]> {
  const { workspace: id, channel, root } = refusedMessage;
  const thread = { workspace: id, channel, root };
  const current = await store.threads.get(thread);
  if (current === undefined || current.task_id !== null || current.began_ts !== refusedMessage.ts) return [];
  if (await store.turns.hasTurnSince(thread, refusedMessage.ts)) return [];
  await store.threads.makeDormant(thread);
  const dropped: Message[] = [];
  for (;;) {
    const next = await store.messages.nextWaiting(thread);
    if (next === undefined) return dropped;
    if (isAddressedToBot(workspace, next)) {
      const { account } = current;
      await store.threads.adopt(thread, { account, person: next.person, ts: next.ts });
      return dropped;
    }
    await store.messages.remove(next);
    await store.orphanReplies.add(thread, next.ts);
    dropped.push(next);
  }
}

/** Whether a message is for us whatever its thread: it mentions us, is direct, or comes from a form. */
function isAddressedToBot(workspace: WorkspaceClient, { channel, words: content }: Message): boolean {
  if (isDirectChannel(channel)) return true;
  if (content === null) return false;
  return (
    content.choices !== undefined || readMentions(parseMessage(content), workspace.bot.userId).mentionsBot
  );
}
