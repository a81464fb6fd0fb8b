import * as words from '../../reply/words.ts';
import type { Excess } from '../../store/allowances.ts';
import type { Store } from '../../store/store.ts';
import type { Message } from '../../store/tables.ts';
import { isDirect } from '../arriving/arrivals.ts';
import type { RelayParts, Workspace } from '../context.ts';
import { waitingMark } from '../controls/marks.ts';
import { mentions } from '../reading/mentions.ts';
import { readMessage } from '../reading/message.ts';
import { tryToTell } from '../telling.ts';
import type { NotAdmitted } from './admittance.ts';

/** Why a message is not for the agent: who wrote it, or how much they ask. */
export type Refusal = { why: NotAdmitted } | { why: 'limit'; excess: Excess };

/** The one sentence that the refused person reads. */
export function refusalWords(refusal: Refusal): string {
  if (refusal.why === 'limit') return words.tooMuch(refusal.excess);
  return refusal.why === 'unknown' ? words.notKnown : words.notAllowed;
}

/** What the trail says of a refusal. */
export function refusalDetails(refusal: Refusal): Record<string, string | number> {
  if (refusal.why !== 'limit') return { why: refusal.why };
  const { limit, most } = refusal.excess;
  return { why: 'limit', limit, most };
}

/** Refuses a waiting message: its words go, its thread is given up where it began it, its writer is told. */
export async function refuse(
  parts: RelayParts,
  workspace: Workspace,
  message: Message,
  refusal: Refusal,
): Promise<void> {
  const { channel, root, ts, person } = message;
  const thread = { workspace: workspace.id, channel, root };
  const details = { ...refusalDetails(refusal), message: ts };
  const refused = await parts.store.transaction(async (store) => {
    await store.threads.lock(thread);
    const isFirst = !(await store.messages.wasRefused(thread, person));
    if (!(await store.messages.refuse(message))) return undefined;
    // The button that made it may be pressed again.
    await store.turns.releaseFollowUp(message);
    await store.messages.releaseChange(message);
    const dropped = await giveUpThread(store, workspace, message);
    await store.audit.add({ workspace: workspace.id, kind: 'refusal', person, channel, root, details });
    return { isFirst, dropped };
  });
  if (refused === undefined) return;
  parts.log.info({ ...thread, ...details, person }, 'a message was refused');
  for (const { ts: marked } of refused.dropped.filter((one) => one.marked))
    await workspace.posting.unreact({ channel, ts: marked, name: waitingMark });
  // Whoever goes on talking in the channel without the bot in mind is told once.
  if (!refused.isFirst && !isForUs(workspace, message) && refusal.why !== 'limit') return;
  tellWriter(parts, message, refusalWords(refusal));
}

/** Tells a message's writer something, as far as Slack lets us. */
export function tellWriter(parts: RelayParts, message: Message, sentence: string): void {
  const { workspace, channel, root, ts, person } = message;
  // What stands below a message without replies is not seen.
  const threadTs = root === ts ? undefined : root;
  tryToTell(parts, { workspace, channel, person, threadTs }, sentence);
}

/**
 * A thread that a refused message began is not ours. What waits in it is what the inbox would have made of it then:
 * a mention begins the thread anew, a mere reply is a stray. The answer is what was dropped.
 */
async function giveUpThread(store: Store, workspace: Workspace, refused: Message): Promise<Message[]> {
  const { workspace: id, channel, root } = refused;
  const thread = { workspace: id, channel, root };
  const known = await store.threads.get(thread);
  if (known === undefined || known.task_id !== null || known.began_ts !== refused.ts) return [];
  if (await store.turns.anySince(thread, refused.ts)) return [];
  await store.threads.rest(thread);
  const dropped: Message[] = [];
  for (;;) {
    const next = await store.messages.nextWaiting(thread);
    if (next === undefined) return dropped;
    if (isForUs(workspace, next)) {
      const { account } = known;
      await store.threads.adopt(thread, { account, person: next.person, ts: next.ts });
      return dropped;
    }
    await store.messages.remove(next);
    await store.strays.note(thread, next.ts);
    dropped.push(next);
  }
}

/** Whether a message is for us whatever its thread: it mentions us, is direct, or comes from a form. */
function isForUs(workspace: Workspace, { channel, words: said }: Message): boolean {
  if (isDirect(channel)) return true;
  if (said === null) return false;
  return said.choices !== undefined || mentions(readMessage(said), workspace.bot.userId).bot;
}
