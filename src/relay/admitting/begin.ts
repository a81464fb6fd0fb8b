import * as words from '../../reply/words.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { Message, Turn } from '../../store/tables.ts';
import { isEarlier } from '../arriving/arrivals.ts';
import type { RelayParts, Workspace } from '../context.ts';
import type { Lease } from '../lease.ts';
import { patiently, type Trouble } from '../patience.ts';
import { notAdmitted } from './admittance.ts';
import { beginWithin } from './allowance.ts';
import { refuse, tellWriter } from './refusing.ts';

/** How the next message is looked for. */
export interface NextManner {
  /** Only one that is earlier than this ts. */
  before?: string;
  /** Throws where Slack does not tell who somebody is, in place of waiting. */
  atOnce?: boolean;
}

/**
 * The thread's waiting message with the lowest ts whose writer is admitted; others are refused. Waits where Slack does
 * not tell who somebody is; throws HandOver, or the lease's reason.
 */
export async function nextAdmitted(
  parts: RelayParts,
  workspace: Workspace,
  thread: ThreadKey,
  lease: Lease,
  { before, atOnce = false }: NextManner = {},
): Promise<Message | undefined> {
  for (;;) {
    const message = await parts.store.messages.nextWaiting(thread);
    if (message === undefined || (before !== undefined && !isEarlier(message.ts, before))) return undefined;
    let waited = false;
    const ask = () => notAdmitted(parts, workspace.people, message, lease.signal);
    const onTrouble = (trouble: Trouble | undefined, error: unknown) => {
      if (trouble === undefined || waited) return;
      waited = true;
      const { workspace: id, channel, root } = thread;
      const place = { workspace: id, channel, root };
      parts.log.warn({ ...place, err: error }, 'it is not known who wrote a message; it waits');
      tellWriter(parts, message, words.notKnownYet);
    };
    const why = await (atOnce ? ask() : patiently(lease, ask, onTrouble));
    if (why !== undefined) await refuse(parts, workspace, message, { why });
    // It may have been taken back meanwhile.
    else if (!waited) return message;
  }
}

/** Begins the turn of an admitted message; undefined where that is too much, and the message was refused. */
export async function beginTurn(
  parts: RelayParts,
  workspace: Workspace,
  id: string,
  message: Message,
  passedOnBy: string | null = null,
): Promise<Turn | undefined> {
  const begun = await beginWithin(parts, id, message, passedOnBy);
  if ('turn' in begun) return begun.turn;
  await refuse(parts, workspace, message, { why: 'limit', excess: begun.excess });
  return undefined;
}
