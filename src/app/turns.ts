import { supportedTaskOptions } from '../agent/service-options.ts';
import { type Config, defaultWorkspaceQuota } from '../config/settings.ts';
import type { RelayLimits } from '../limits.ts';
import { readPromptsFile } from '../operate/prompts-file.ts';
import { tellIfClosed } from '../relay/access/refusals.ts';
import { messageButtons } from '../relay/controls/continue-and-retry.ts';
import { pausedMessageButtons, updatePauseAfter } from '../relay/controls/paused-messages.ts';
import {
  passOnOrOfferSendNow,
  sendEdit,
  sendInstead,
  sendNow,
} from '../relay/controls/send-now-and-corrections.ts';
import { StopTriggers } from '../relay/controls/stop-by-word-or-emoji.ts';
import { StopControl } from '../relay/controls/stop-control.ts';
import { tellOfUnsentReply, unsentReplyButtons } from '../relay/controls/unsent-replies.ts';
import { markQueued, waitingReactionJobs } from '../relay/controls/waiting-reactions.ts';
import { tellOfLateEdit } from '../relay/inbox/correction-note.ts';
import { ResultLinks } from '../relay/replies/lasting-links.ts';
import type { ChannelActor, MessagePress } from '../relay/runtime/control-request.ts';
import type { RelayDeps } from '../relay/runtime/deps.ts';
import type { InboxOutcome } from '../relay/runtime/incoming-message.ts';
import { JobRunner } from '../relay/runtime/job-runner.ts';
import { RenderQueue } from '../relay/runtime/render-queue.ts';
import { ReplyMemory } from '../relay/runtime/reply-memory.ts';
import { followUpJobs } from '../relay/turns/later-results.ts';
import { reminderJobs } from '../relay/turns/reminders.ts';
import { TurnRunner, turnJobs } from '../relay/turns/turn-runner.ts';
import { JOB_KIND } from '../store/jobs/jobs.ts';
import type { MessageKey } from '../store/schema.ts';
import type { AppContext, Storage } from './storage.ts';
import type { Workspaces } from './workspaces.ts';

/** How soon after a job was asked for its transaction has mostly committed (ms); polls find what was later. */
const COMMIT_DELAY_MS = 50;

export type Turns = ReturnType<typeof createTurns>;

/** Builds what runs turns. */
export function createTurns(
  { config, limits, log, telemetry }: AppContext,
  { store, leaseStore, holder }: Storage,
  { installations, accounts }: Workspaces,
) {
  const { STABLE_LINKS, PUBLIC_URL: publicUrl, SECRET_KEY: secretKeys } = config;
  const links =
    STABLE_LINKS && publicUrl !== undefined && secretKeys !== undefined
      ? new ResultLinks({ secretKeys, publicUrl })
      : undefined;
  const workspace = (id: string) => installations.workspace(id);
  const settings = relaySettings(config, links, limits);
  const deps: RelayDeps = {
    store,
    log,
    settings,
    workspace,
    enqueue: async (within, { workspace: id, channel, thread_ts }) => {
      await within.jobs.want({ workspace: id, kind: JOB_KIND.turn, channel, thread_ts, key: '' });
      setTimeout(() => jobs.runDue(), COMMIT_DELAY_MS);
    },
    rendering: new RenderQueue(),
    replyMemory: new ReplyMemory(),
    agent: (account) => accounts.agentClient(account),
    readRate: (account) => accounts.readRate(account),
    accountOf: (id) => accounts.currentAccount(id),
    onBlockRefused: telemetry.onBlockRefused,
  };
  const runner = new TurnRunner(deps, (id) => installations.find({ workspace: id }));
  const jobs = new JobRunner({ store, leaseStore, holder, log, onRun: telemetry.onJobRun });
  jobs.add(turnJobs(runner, config.DRAIN_SECONDS * 1_000));
  for (const kind of [followUpJobs(deps), reminderJobs(deps), waitingReactionJobs(deps)]) jobs.add(kind);
  return { deps, links, runner, jobs };
}

export type Controls = ReturnType<typeof createControls>;

/** Builds what people control turns with, on the connections that are kept for what Slack waits for. */
export function createControls({ deps, runner, jobs }: Turns, { ackStore }: Storage) {
  const controlDeps = { ...deps, store: ackStore };
  const stopControl = new StopControl(controlDeps, (turn) => runner.requestStop(turn));
  const stopTriggers = new StopTriggers(controlDeps, stopControl);
  const passOn = runner.passOn.bind(runner);
  const pausedButtons = pausedMessageButtons(controlDeps);
  return {
    stopControl,
    stopTriggers,
    /** Passes on what people asked for, perhaps in another process. Throws StoreError. */
    passOnUrgent: async () => {
      for (const message of await ackStore.messages.urgent()) passOn(message, 'at_once');
    },
    buttons: {
      ...messageButtons(controlDeps),
      ...pausedButtons,
      ...unsentReplyButtons(controlDeps),
      correct: (press: MessagePress) => sendEdit(controlDeps, press),
      send_now: (press: MessagePress) => sendNow(controlDeps, passOn, press),
      send_instead: (press: MessagePress) =>
        sendInstead(controlDeps, { stopControl, sendPaused: pausedButtons.send_paused }, press),
    },
    /** What follows from what became of an event. */
    afterEvent: (outcome: InboxOutcome, message: ChannelActor & MessageKey): Promise<void>[] => [
      ...[tellIfClosed, tellOfLateEdit, tellOfUnsentReply, updatePauseAfter].map(
        async (follow) => await follow(controlDeps, outcome, message),
      ),
      passOnOrOfferSendNow(controlDeps, passOn, outcome, message),
      markQueued(deps, outcome, () => jobs.runDue()),
      stopTriggers.onInboxOutcome(outcome, message),
    ],
  };
}

/** The relay's settings. */
export function relaySettings(
  config: Config,
  links: ResultLinks | undefined,
  limits: RelayLimits,
): RelayDeps['settings'] {
  return {
    ...limits,
    maxRecordBytes: config.RECORD_FILES_MIB * 1024 * 1024,
    skill: config.AGENT_SKILL,
    prompts: readPromptsFile(config.PROMPTS_FILE),
    supportedTaskOptions: supportedTaskOptions(config.AGENT_DIALECT),
    allowedTypes: config.FILE_TYPES.filter((type) => !type.startsWith('!')),
    refusedTypes: config.FILE_TYPES.flatMap((type) => (type.startsWith('!') ? [type.slice(1)] : [])),
    stableLink: links === undefined ? undefined : (result) => links.create(result),
    streamsDirectMessages: config.DM_STREAMS,
    stopWords: config.STOP_WORDS,
    feedbackChannel: config.FEEDBACK_CHANNEL,
    taskControl: config.TASK_CONTROL,
    checksSources: config.CHECK_SOURCES.length > 0,
    answers: {
      channels: config.ANSWERS_IN,
      directMessages: config.DIRECT_MESSAGES,
      groupMessages: config.GROUP_MESSAGES,
    },
    allowedUsers: config.ALLOWED_USERS,
    keepsTexts: config.SECRET_KEY !== undefined,
    listenMode: config.LISTEN_MODE,
    allowedBots: config.ALLOWED_BOTS,
    quotas: {
      hourPerson: config.TURNS_PER_HOUR_PERSON,
      hourWorkspace: config.TURNS_PER_HOUR_WORKSPACE ?? defaultWorkspaceQuota(config),
      atOncePerson: limits.atOncePerson,
      atOnceWorkspace: limits.atOnceWorkspace,
    },
  };
}
