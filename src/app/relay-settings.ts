import { supportedTaskOptions } from '../agent/service-options.ts';
import type { Config } from '../config.ts';
import type { ResultLinks } from '../relay/replies/lasting-links.ts';
import type { RelayDeps, RelayLimits } from '../relay/runtime/deps.ts';

const RELAY_LIMITS: RelayLimits = {
  settledTaskMs: 60_000,
  refusalMs: 60_000,
  badThingMs: 9.5 * 60_000,
  lookAgainMs: 60_000,
  linkMs: 20_000,
  linkAgeMs: 30_000,
  slackPace: 1,
};
const MEBIBYTE = 1024 * 1024;

/** The relay's settings. */
export function relaySettings(
  config: Config,
  links: ResultLinks | undefined,
  limits: Partial<RelayLimits> = {},
): RelayDeps['settings'] {
  return {
    skill: config.AGENT_SKILL,
    supportedTaskOptions: supportedTaskOptions(config.AGENT_DIALECT),
    maxTranscriptMessages: config.TRANSCRIPT_MESSAGES,
    maxTranscriptCharacters: config.TRANSCRIPT_CHARACTERS,
    fileLimits: {
      maxFileBytes: config.FILE_LIMIT_MIB * MEBIBYTE,
      maxMessageBytes: config.FILES_LIMIT_MIB * MEBIBYTE,
      maxMessageFiles: config.FILES_MOST,
      allowedTypes: config.FILE_TYPES_ALLOWED,
      refusedTypes: config.FILE_TYPES_REFUSED,
    },
    results: {
      maxInlineBytes: config.INLINE_LIMIT_MIB * MEBIBYTE,
      maxTableBytes: config.TABLE_LIMIT_KIB * 1024,
      followUpMs: config.WATCH_MINUTES * 60_000,
      followUpIntervalMs: config.WATCH_SECONDS * 1_000,
      stableLink: links === undefined ? undefined : (result) => links.create(result),
    },
    ...RELAY_LIMITS,
    ...limits,
    maxBackgroundWaitMs: config.BACKGROUND_WAIT_SECONDS * 1_000,
    resendMs: config.RESEND_SECONDS * 1_000,
    silenceMs: config.SILENCE_SECONDS * 1_000,
    waitingMs: config.WAITING_SECONDS * 1_000,
    remindMs: config.REMIND_SECONDS * 1_000,
    passOnMs: config.PASS_ON_SECONDS * 1_000,
    maxReplyMessages: config.REPLY_MESSAGES,
    newBlocks: config.REPLY_BLOCKS,
    streamsDirectMessages: config.DM_STREAMS,
    stopReaction: config.STOP_REACTION,
    feedbackChannel: config.FEEDBACK_CHANNEL,
    controlsBy: config.CONTROLS_BY,
    answers: {
      channels: config.ANSWERS_IN,
      directMessages: config.DIRECT_MESSAGES,
      groupMessages: config.GROUP_MESSAGES,
    },
    admits: config.ADMITS,
    noInstructions: whyNoInstructions(config),
    listenMode: config.LISTENS_TO,
    admitsBots: config.ADMITS_BOTS,
    quotas: {
      hourPerson: config.TURNS_PER_HOUR_PERSON,
      hourWorkspace: config.TURNS_PER_HOUR_WORKSPACE ?? defaultWorkspaceQuota(config),
      atOncePerson: config.TURNS_AT_ONCE_PERSON,
      atOnceWorkspace: config.TURNS_AT_ONCE_WORKSPACE,
    },
  };
}

function whyNoInstructions({ SECRET_KEY, AGENT_SKILL }: Config): 'key' | 'skill' | undefined {
  if (AGENT_SKILL !== undefined) return 'skill';
  return SECRET_KEY === undefined ? 'key' : undefined;
}

/** Messages an hour: workspaces that install the app themselves must not use up the operator's key. */
function defaultWorkspaceQuota({ SLACK_CLIENT_ID, AGENT_API_KEY }: Config): number {
  return SLACK_CLIENT_ID !== undefined && AGENT_API_KEY !== undefined ? 600 : 0;
}
