import * as strings from '../../render/strings/index.ts';
import { StoreError } from '../../store/errors.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Store } from '../../store/store.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import type { JobKind } from '../runtime/job-runner.ts';
import { postJobNotice } from '../runtime/unknown-outcome.ts';

/** Slack gives a channel another id. */
export interface ChannelMove {
  workspace: string;
  from: string;
  /** The new id. */
  channel: string;
}

/**
 * Moves all that is stored of a channel to its new id. While a thread has a turn at work under both ids that cannot be
 * done: a job does it then. Throws a StoreError.
 */
export async function moveChannel(store: Store, { workspace, from, channel }: ChannelMove): Promise<void> {
  try {
    await moveAtOnce(store, { workspace, from, channel });
  } catch (error) {
    if (error instanceof StoreError) throw error;
    await store.jobs.want(
      { workspace, kind: JOB_KIND.channelMove, channel, thread_ts: CHANNEL_LEVEL, key: from },
      1_000,
    );
  }
}

/** Jobs that move channels as soon as the turns under both ids have ended. */
export function channelMoveJobs(deps: Pick<RelayDeps, 'store' | 'workspace'>): JobKind {
  return {
    kind: JOB_KIND.channelMove,
    share: 1,
    timeoutMs: 30_000,
    // The longest turn, and more.
    giveUpAfterMs: 3 * 24 * 60 * 60_000,
    perform: async ({ workspace, channel, key: from }) => {
      await moveAtOnce(deps.store, { workspace, from, channel });
      return 'done';
    },
    onGivenUp: async (job, lease) => {
      await postJobNotice(deps, job, lease, { key: `moved/${job.key}`, text: strings.channelNotMoved });
    },
  };
}

async function moveAtOnce(store: Store, { workspace, from, channel }: ChannelMove): Promise<void> {
  await store.transaction(({ channels }) => channels.move(workspace, from, channel));
}
