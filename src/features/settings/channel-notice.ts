import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { actorName } from '../../relay/reading/display-names.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type { JobKind } from '../../relay/runtime/job-runner.ts';
import { postJobNotice } from '../../relay/runtime/unknown-outcome.ts';
import * as strings from '../../render/strings/index.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import { type Settings, WHOLE_WORKSPACE } from '../../store/workspaces/settings-store.ts';

/** What the channel is told of; left out if it has not changed. */
const noticeSchema = z.object({ everything: z.boolean().optional(), steps: z.boolean().optional() });

/** Jobs that tell a channel whose messages go to the agent from now on. */
export function channelNoticeJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.channelNotice,
    share: 2,
    timeoutMs: 30_000,
    giveUpAfterMs: 24 * 60 * 60_000,
    perform: async (job, lease) => {
      const notice = { key: `settings/${job.key}`, text: await noticeText(job) };
      return (await postJobNotice(deps, job, lease, notice)) ? 'done' : 'later';
    },
    onGivenUp: async (job, lease) => {
      const { channel, person, key } = job;
      if (person === '') return;
      const text = strings.noticeNotPosted(channel, await noticeText(job));
      await postJobNotice(deps, job, lease, { key: `settings/${key}/lost`, text, person });
    },
  };

  async function noticeText(job: Job): Promise<string> {
    const { everything, steps } = noticeSchema.parse(job.payload);
    const who = await actorName(deps, job);
    const lines = [
      ...(everything === undefined ? [] : [strings.everyMessageNotice(who, everything)]),
      ...(steps === undefined ? [] : [strings.workflowStepsNotice(who, steps)]),
    ];
    return lines.join('\n');
  }
}

/** Saves settings of a channel, and tells it if other messages go to the agent than before. */
export async function saveSettings(
  deps: RelayDeps,
  store: Store,
  { workspace, channel, person }: ChannelActor,
  settings: Partial<Settings>,
): Promise<void> {
  const location = { workspace, channel, thread_ts: CHANNEL_LEVEL };
  // Of two people who save the same at once, only one has changed it.
  await store.threads.lock(location);
  const before = await store.settings.get(workspace, channel);
  await store.settings.set(workspace, channel, person, settings);
  if (isDirectChannel(channel)) return;
  const usual = (await store.settings.get(workspace, WHOLE_WORKSPACE)).listen_mode;
  const readsAll = ({ listen_mode: mode }: Settings) =>
    (mode ?? usual ?? deps.settings.listenMode) === 'everything';
  const after = { ...before, ...settings };
  const everything = readsAll(after);
  const steps = after.allow_workflow_steps;
  const payload = {
    ...(everything !== readsAll(before) && { everything }),
    ...(steps !== before.allow_workflow_steps && { steps }),
  };
  if (Object.keys(payload).length === 0) return;
  await store.jobs.add({ ...location, kind: JOB_KIND.channelNotice, key: randomUUID(), person, payload });
}
