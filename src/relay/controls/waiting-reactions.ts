import { JOB_KIND } from '../../store/jobs/jobs.ts';
import type { ThreadKey } from '../../store/schema.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { type InboxOutcome, WAITING_EMOJI } from '../runtime/incoming-message.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import { inBackground } from '../runtime/poller.ts';

/** Most reactions in a workspace at a time. Slack lets us remove about 17 a minute: all go within half a minute. */
const MAX_WAITING_REACTIONS = 5;
/** How often a job looks whether its message still waits (ms). The job is also woken, unless a process dies. */
const LOOK_AGAIN_MS = 60_000;

/** Jobs that put the hourglass on a message that waits for its turn, and take it off again. */
export function waitingReactionJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.waitingReaction,
    share: MAX_WAITING_REACTIONS,
    timeoutMs: 15_000,
    giveUpAfterMs: 30 * 60_000,
    perform: async (job) => {
      const { workspace, channel, key: ts, payload, intended_at: intendedAt } = job;
      const { messages, jobs } = deps.store;
      const posting = deps.workspace(workspace)?.posting;
      if (posting === undefined) return 'later';
      const reaction = { channel, ts, name: WAITING_EMOJI };
      const isWaiting = () => messages.waitsForTurn({ workspace, channel, ts });
      if (await isWaiting()) {
        // The mark is surely there. While the intent to add it stands, an attempt may have failed.
        if (payload.added === true && intendedAt === null) return { inMs: LOOK_AGAIN_MS };
        if (!(await jobs.intend(job, { added: true }))) return 'later';
        return (await posting.addReaction(reaction)) === 'later' ? 'later' : { inMs: LOOK_AGAIN_MS };
      }
      if (payload.added !== true) return 'done';
      const removed = await posting.removeReaction(reaction);
      if (removed === 'refused') return 'given_up';
      // The message's turn may have ended without sending it, so that it waits again.
      return removed === 'done' && (await isWaiting()) ? { inMs: 0, payload: {} } : removed;
    },
    onGivenUp: 'counted',
  };
}

/** Asks for the hourglass on a thread's waiting messages that lack it. Returns at once; never throws. */
export function markWaiting({ store, log }: Pick<RelayDeps, 'store' | 'log'>, thread: ThreadKey): void {
  const asked = store.messages.wantWaitingReactions(thread, MAX_WAITING_REACTIONS);
  inBackground(asked, log, 'could not ask for waiting reactions');
}

/** Asks for the hourglass on a message that has to wait. `runDue` has it added at once. */
export async function markQueued(
  { store }: Pick<RelayDeps, 'store'>,
  outcome: InboxOutcome,
  runDue: () => void,
): Promise<void> {
  if (outcome.kind !== 'admitted' || !outcome.isQueued) return;
  if (await store.messages.wantWaitingReactions(outcome.thread, MAX_WAITING_REACTIONS)) runDue();
}
