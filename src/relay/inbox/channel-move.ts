import * as strings from '../../render/strings/index.ts';
import type { MoveProgress } from '../../store/channels-and-projects.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Store } from '../../store/store.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { InboxEvent } from '../runtime/incoming-message.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import { postJobNotice } from '../runtime/unknown-outcome.ts';

/** Slack gives a channel another id. */
type ChannelMove = Omit<Extract<InboxEvent, { kind: 'move' }>, 'kind'>;

/**
 * Moves all that is stored of a channel to its new id: a first part at once, which is all of most channels. A job does the
 * rest in steps, also if a thread has a turn at work under both ids. Throws a StoreError if the move is not recorded.
 */
export async function moveChannel(store: Store, { workspace, from, channel }: ChannelMove): Promise<void> {
  const job = { workspace, kind: JOB_KIND.channelMove, channel, thread_ts: CHANNEL_LEVEL, key: from };
  await store.jobs.want(job, FIRST_STEP_MS);
  // The job logs what keeps failing.
  const progress = await moveStep(store, { workspace, from, channel }).catch(() => 'blocked' as const);
  if (progress === 'done') await store.jobs.remove(job);
  else await store.jobs.want(job, progress === 'more' ? 0 : BLOCKED_MS);
}

/** How long the first part may take before a job begins (ms): longer than Slack waits for an acknowledgement. */
const FIRST_STEP_MS = 4_000;
/** When threads with a turn at work under both ids are looked at again (ms). */
const BLOCKED_MS = 1_000;

/** Jobs that move channels step by step, as soon as no thread has turns at work under both ids. */
export function channelMoveJobs(deps: Pick<RelayDeps, 'store' | 'workspace'>): JobKind {
  return {
    kind: JOB_KIND.channelMove,
    share: 1,
    // The longest turn, and more.
    giveUpAfterMs: 3 * 24 * 60 * 60_000,
    perform: async ({ workspace, channel, key: from }) => {
      const progress = await moveStep(deps.store, { workspace, from, channel });
      if (progress === 'more') return { inMs: 0 };
      return progress === 'done' ? 'done' : 'later';
    },
    onGivenUp: async (job, lease) => {
      await postJobNotice(deps, job, lease, { key: `moved/${job.key}`, text: strings.channelNotMoved });
    },
  };
}

async function moveStep(store: Store, { workspace, from, channel }: ChannelMove): Promise<MoveProgress> {
  return store.transaction(({ channels }) => channels.move(workspace, from, channel));
}
