const MEBIBYTE = 1024 * 1024;

/** What no operator needs to set; the sandbox changes it. Times are in ms. */
export const RELAY_LIMITS = {
  /** Slack's limit for `chat.update`, a minute and workspace: https://docs.slack.dev/apis/web-api/rate-limits (tier 3). */
  editsPerMinute: 50,
  /** How many times as fast as Slack's limits the app calls it, where nobody else enforces them. */
  slackPace: 1,
  /** How long after its intent a call to Slack has surely ended: 1 s until it leaves, 5 s for the longest call, 2 s on the network. */
  slackCallLifetimeMs: 8_000,
  /** The pause before a second try, with jitter; each later one is twice as long. */
  retryMs: 1_000,
  /** Socket Mode connections of all processes. Slack allows 10; some stay free for processes that crashed. */
  mostSockets: 8,
  /** After this long without events, what may have been missed is read back. */
  minGapMs: 5 * 60_000,
  /** Most reads a second from the service, for each key and process; all live replies share them. */
  readsPerSecond: 20,
  /** The shortest pause between two reads of a live reply, whatever the rate allows. */
  readIntervalMs: 1_000,
  /** How long a task must show itself settled to count as settled: its status may lag behind a message. */
  settledTaskMs: 60_000,
  /** How long the service must answer only that a thing is gone, refused or unreadable before that is believed. */
  refusalMs: 60_000,
  /** How long a thing may fail while other calls succeed: with the pause before the last try, the ten minutes that people are promised. */
  badThingMs: 9.5 * 60_000,
  /** How long the service is searched for what a call with an unknown outcome has made, before the call is repeated. */
  resendMs: 120_000,
  /** How long after a waiting message was not found in Slack it is looked for again, before it counts as deleted. */
  lookAgainMs: 60_000,
  /** How long reading one linked message may take, and as long again its thread, before it is left out. */
  linkMs: 20_000,
  /** How long Slack may take to say who or what something is, where it waits 3 s itself for our answer. */
  lookupMs: 1_500,
  /** The same where nothing waits but a person before an open window. */
  windowLookupMs: 3_000,
  /** How old what was read of a linked message may be when it is sent. */
  linkAgeMs: 30_000,
  /** Most earlier messages that are quoted, and most characters of them, and of all linked messages together. */
  maxTranscriptMessages: 20,
  maxTranscriptCharacters: 20_000,
  /** Most messages of a person, and of a workspace, in progress at a time; 0: no limit. */
  atOncePerson: 10,
  atOnceWorkspace: 200,
  /** Largest file to pass to the agent, in bytes. Slack takes files of up to 1 GB from people. */
  maxFileBytes: 2_048 * MEBIBYTE,
  /** Most of people's files in a message, and most bytes of all of them. */
  maxMessageFiles: 20,
  maxMessageBytes: 4_096 * MEBIBYTE,
  /** Most messages of one answer; the rest is a file. */
  maxReplyMessages: 12,
  /** Largest picture or table, and largest table, that is shared in the thread itself, in bytes. */
  maxInlineBytes: 50 * MEBIBYTE,
  maxTableBytes: 256 * 1024,
  /** How long a settled reply waits for its task to finish background work. */
  maxBackgroundWaitMs: 60_000,
  /** How long after its turn a task is watched for later results and reviews. */
  watchMs: 60 * 60_000,
  /** The same while the task works in the background. */
  workWatchMs: 7 * 24 * 60 * 60_000,
  /** The pause before the first look; later pauses are longer. */
  watchIntervalMs: 10_000,
  /** After this time without new content while a tool works, the thread says that the agent is silent. */
  silenceMs: 120_000,
  /** The same without an open tool call, when the run may be waiting for a person. */
  waitingMs: 30_000,
  /** Where the registries of CHECK_SOURCES are. */
  registries: {
    crossref: 'https://api.crossref.org',
    doi: 'https://doi.org',
    pubmed: 'https://eutils.ncbi.nlm.nih.gov/entrez/eutils',
  },
  /** How long registries may take for the sources of an answer; what has not come by then is looked up once more later. */
  sourceCheckMs: 10_000,
  sourceLookAgainMs: 5 * 60_000,
  /** After this time without an answer to a question or a plan, who asked is reminded. */
  remindMs: 30_000,
  /** After this time without new content, a waiting message is passed on to a run without an open tool call. */
  passOnMs: 10_000,
  /** Days until the data of a workspace that has uninstalled the app is deleted, if it was installed by OAuth. */
  uninstalledDays: 30,
};

export type RelayLimits = typeof RELAY_LIMITS;
