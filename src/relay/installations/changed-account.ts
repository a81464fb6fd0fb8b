import { AgentNotFoundError } from '../../agent/errors.ts';
import * as strings from '../../render/strings/index.ts';
import type { Thread, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { NO_ACCOUNT } from '../../store/workspaces/accounts.ts';
import { TurnEnded } from '../runtime/turn-interruptions.ts';

/** The account of a thread is gone: its tasks and files cannot be reached. */
export class AccountGone extends AgentNotFoundError {
  constructor() {
    super({
      sentence: 'The workspace now uses another account at the agent service; start a new thread.',
      outcome: 'not_sent',
    });
  }
}

/** The thread under its workspace's current account. Throws TurnEnded if its task is another's, or there is none. */
export async function ensureCurrentAccount(
  store: Store,
  currentAccountOf: (workspace: string) => string,
  thread: Thread,
  turn: Turn,
): Promise<Thread> {
  const account = currentAccountOf(thread.workspace);
  if (thread.account_id === account && account !== NO_ACCOUNT) return thread;
  // A message that may have been sent is followed to its end under the account that it was sent with.
  if (turn.send_intended_at !== null) return thread;
  if (account === NO_ACCOUNT) throw new TurnEnded('refused', strings.noAccount);
  if (thread.task_id !== null || thread.task_intended_at !== null)
    throw new TurnEnded('refused', strings.accountChanged);
  return store.transaction(async ({ threads, keptFiles }) => {
    if (await threads.moveToAccount(thread, account)) await keptFiles.leaveBehind(thread);
    return threads.getOrThrow(thread);
  });
}
