import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { actorName } from '../../relay/reading/display-names.ts';
import type { ChannelActor } from '../../relay/runtime/control-request.ts';
import type { RelayDeps } from '../../relay/runtime/deps.ts';
import { isDirectChannel } from '../../relay/runtime/incoming-message.ts';
import type { JobKind } from '../../relay/runtime/job-runner.ts';
import { postJobNotice } from '../../relay/runtime/unknown-outcome.ts';
import {
  messageOfBlocks,
  mrkdwnContextBlock,
  plainMessage,
  type RenderedMessage,
  sectionBlock,
} from '../../render/blocks/slack-blocks.ts';
import { formatChannel } from '../../render/blocks/task-lines.ts';
import { noteWithButtons } from '../../render/messages/button-notes.ts';
import * as strings from '../../render/strings/index.ts';
import { CHANNEL_LEVEL, JOB_KIND } from '../../store/jobs/jobs.ts';
import type { Job } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { Settings } from '../../store/workspaces/settings-store.ts';
import { OWN_PROJECT } from './project-fields.ts';
import { SETTING_KEYS, SETTINGS } from './settings.ts';

/**
 * The settings that were turned on or off, or `every_reply` of the job's thread; or that the channel uses another project, or
 * another channel its own.
 */
const noticeSchema = z.union([
  z.strictObject({ project_used_by: z.string() }),
  z.record(z.string(), z.boolean()),
]);

/** Most channels that are told that another one uses their project. */
const MAX_CHANNELS_TOLD = 20;

/** Jobs that tell a channel or thread of what was turned on or off there: whose messages go to the agent from now on. */
export function channelNoticeJobs(deps: RelayDeps): JobKind {
  return {
    kind: JOB_KIND.channelNotice,
    perform: async (job, lease) => {
      const said = await noticeOf(job);
      const orPrivately = strings.noticeNotPosted(job.channel, said.text);
      return postJobNotice(deps, job, lease, { key: `settings/${job.key}`, ...said, orPrivately });
    },
    onGivenUp: async (job, lease) => {
      const { channel, person, key } = job;
      if (person === '') return;
      const text = strings.noticeNotPosted(channel, (await noticeOf(job)).text);
      await postJobNotice(deps, job, lease, { key: `settings/${key}/lost`, text, person });
    },
  };

  async function noticeOf(job: Job): Promise<RenderedMessage> {
    const payload = noticeSchema.parse(job.payload);
    const who = await actorName(deps, job);
    const user = 'project_used_by' in payload ? payload.project_used_by : undefined;
    if (typeof user === 'string') {
      const said = sectionBlock(strings.projectUsed(who, user === job.channel));
      return messageOfBlocks(user === job.channel ? [said] : [said, mrkdwnContextBlock(formatChannel(user))]);
    }
    const turned: Readonly<Record<string, unknown>> = payload;
    if (turned.every_reply === true)
      return noteWithButtons(strings.listening(who), ['stop_listening'], job.thread_ts);
    if (turned.every_reply === false) return plainMessage(strings.listeningEnded(who));
    const lines = SETTING_KEYS.map((key) => {
      const isOn = turned[key];
      return typeof isOn === 'boolean' ? SETTINGS[key].notice?.text(who, isOn) : undefined;
    });
    return plainMessage(lines.filter((line) => line !== undefined).join('\n'));
  }
}

/** Saves settings of a channel, and tells it of those that were turned on or off. */
export async function saveAndAnnounce(
  store: Store,
  { workspace, channel, person }: ChannelActor,
  change: Partial<Settings>,
): Promise<void> {
  const location = { workspace, channel, thread_ts: CHANNEL_LEVEL };
  // Of two people who save the same at once, only one has changed it.
  await store.threads.lock(location);
  const before = await store.settings.get(workspace, channel);
  await store.settings.set(workspace, channel, person, change);
  if (isDirectChannel(channel)) return;
  const after = { ...before, ...change };
  const turned = SETTING_KEYS.flatMap((key) => {
    const { notice } = SETTINGS[key];
    if (notice === undefined || notice.isOn(before[key]) === notice.isOn(after[key])) return [];
    return [[key, notice.isOn(after[key])] as const];
  });
  if (turned.length === 0) return;
  const payload = Object.fromEntries(turned);
  await store.jobs.add({ ...location, kind: JOB_KIND.channelNotice, key: randomUUID(), person, payload });
}

/** Makes a channel use a project, and tells it and the channels that use it already who did; or makes it begin one of its own. */
export async function useProject(
  store: Store,
  { workspace, channel: here, person }: ChannelActor,
  { account_id, project }: { account_id: string; project: string },
): Promise<void> {
  if (project === OWN_PROJECT) return store.projects.leave({ workspace, channel: here, account_id });
  const users = (await store.projects.channelsUsing(project)).filter((one) => one.workspace === workspace);
  await store.projects.assign({ workspace, channel: here, account_id }, project, person);
  const others = users.map(({ channel }) => channel).filter((channel) => channel !== here);
  const payload = { project_used_by: here };
  for (const channel of [here, ...others.slice(0, MAX_CHANNELS_TOLD)]) {
    const place = { workspace, channel, thread_ts: CHANNEL_LEVEL };
    if (!isDirectChannel(channel))
      await store.jobs.add({ ...place, kind: JOB_KIND.channelNotice, key: randomUUID(), person, payload });
  }
}
