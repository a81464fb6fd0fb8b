import type { Transaction } from 'kysely';
import type { Logger } from 'pino';
import type { AgentClient } from '../../agent/agent-client.ts';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import type { CallGate } from '../../calls/credential-gate.ts';
import type { NewBlock } from '../../render/blocks/slack-blocks.ts';
import type { FileLimits } from '../../render/strings/index.ts';
import { AgentSessions } from '../../slack/agent-sessions.ts';
import { ChannelMembership } from '../../slack/channel-membership.ts';
import { SlackDirectory } from '../../slack/directory.ts';
import { FileDownloads } from '../../slack/file-downloads.ts';
import { FileUploads } from '../../slack/file-uploads.ts';
import { MessageHistory } from '../../slack/message-history.ts';
import { MessageStreams } from '../../slack/message-streams.ts';
import type { PermitStore } from '../../slack/permit-queue.ts';
import { Posting } from '../../slack/posting.ts';
import { RateLimitedClient, RateLimiter, rateLimitTable } from '../../slack/rate-limits.ts';
import { type Installation, SlackClient, type SlackClientOptions } from '../../slack/slack-client.ts';
import { Views } from '../../slack/views.ts';
import { WorkflowExecutions } from '../../slack/workflow-executions.ts';
import type { AllowedUsers, ListenMode, Tables, TaskControl, ThreadKey, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { TurnLimits } from '../../store/threads/turn-usage.ts';
import type { Lease } from './lease.ts';
import type { RenderQueue } from './render-queue.ts';
import type { ReplyMemory, TurnMemory } from './reply-memory.ts';

/** The Slack calls of one workspace. */
export type WorkspaceClient = Readonly<ReturnType<typeof createWorkspaceClient>>;

/** How the agent's result files are shown. */
export interface ResultSettings {
  /** Largest picture or table that is shared in the thread itself, in bytes; 0: none. */
  maxInlineBytes: number;
  /** Largest table that is shared in the thread itself, in bytes; 0: none. */
  maxTableBytes: number;
  /** How long after its turn a task is checked for later results and reviews; 0: not at all. */
  followUpMs: number;
  /** The pause before the first check; later pauses are longer. */
  followUpIntervalMs: number;
  /** Makes a link of ours, which outlasts the service's; undefined if such links are off. */
  stableLink: ((result: ResultLinkTarget) => string) | undefined;
}

/** The result that a link of ours leads to, by the turn that posted it. */
export interface ResultLinkTarget {
  workspace: string;
  turnId: string;
  resultId: string;
}

/** Where the operator lets the bot answer, which nobody can widen. */
export interface AnswerLimits {
  /** The only channels (C…, G…); undefined for all. */
  channels: readonly string[] | undefined;
  directMessages: boolean;
  groupMessages: boolean;
}

/** How long the relay bears what may pass, in ms. */
export interface RelayLimits {
  /** How long a task must show itself settled to count as settled: its status may lag behind a message. */
  settledTaskMs: number;
  /** How long the service must answer only that a thing is gone, refused or unreadable before that is believed. */
  refusalMs: number;
  /** How long a thing may fail while other calls succeed: with the pause before the last try, the ten minutes that people are promised. */
  badThingMs: number;
  /** How long after a waiting message was not found in Slack it is looked for again, before it counts as deleted. */
  lookAgainMs: number;
  /** How long reading one linked message may take, and as long again its thread, before it is left out. */
  linkMs: number;
  /** How old what was read of a linked message may be when it is sent (ms). */
  linkAgeMs: number;
  /** How many times as fast as Slack's limits the app calls it, where nobody else enforces them. */
  slackPace: number;
}

/** The relay's settings; times in ms. */
export interface RelaySettings extends RelayLimits {
  /** Skill that every message runs. */
  skill: string | undefined;
  /** What people can choose for a new task, beside its title and model. */
  supportedTaskOptions: SupportedTaskOptions;
  maxTranscriptMessages: number;
  maxTranscriptCharacters: number;
  /** Which of people's files are sent. */
  fileLimits: FileLimits;
  results: ResultSettings;
  /** How long a settled reply waits for its task to finish background work. */
  maxBackgroundWaitMs: number;
  /** How long the service is searched for what a call with an unknown outcome has made, before the call is repeated. */
  resendMs: number;
  /** After this time without new content while a tool works, the thread says that the agent is silent. */
  silenceMs: number;
  /** The same without an open tool call, when the run may be waiting for a person. */
  waitingMs: number;
  /** After this time without an answer to a question or a plan, who asked is reminded. */
  remindMs: number;
  /** After this time without new content, a waiting message is passed on to a run without an open tool call. */
  passOnMs: number;
  /** Most messages of one answer. */
  maxReplyMessages: number;
  /** Direct messages show the text of replies as streams. */
  streamsDirectMessages: boolean;
  /** The newer blocks of Slack that replies use. */
  newBlocks: readonly NewBlock[];
  /** The only places in which the bot answers. */
  answers: AnswerLimits;
  /** Whose messages are accepted, unless a channel has its own setting. */
  admits: AllowedUsers;
  /** Why no channel has standing instructions: no key encrypts them, or each message runs a skill; undefined if they may. */
  noInstructions: 'key' | 'skill' | undefined;
  /** Which replies in threads that people began are for the agent, unless a workspace or channel says so. */
  listenMode: ListenMode;
  /** The ids (B…) of other bots whose messages are accepted. */
  admitsBots: readonly string[];
  /** How many turns people and workspaces may start. */
  quotas: TurnLimits;
  /** Who may use controls, unless a channel has its own setting. */
  controlsBy: TaskControl;
  /** The reaction that stops the agent, without colons; '' for none. */
  stopReaction: string;
  /** Where new comments on answers are posted; undefined for nowhere. */
  feedbackChannel: string | undefined;
}

/** What every part of the relay runs with. */
export interface RelayDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly settings: RelaySettings;
  /** Undefined if the app is no longer installed. */
  workspace(id: string): WorkspaceClient | undefined;
  /** Asks for the job of the thread's turns, within a transaction. */
  enqueue: (trx: Transaction<Tables>, thread: ThreadKey) => Promise<void>;
  readonly rendering: RenderQueue;
  readonly replyMemory: ReplyMemory;
  /** The client of a service account. Throws AccountGone (an AgentNotFoundError) if another account replaced it. */
  agent(account: string): AgentClient;
  /** The account of a workspace's new threads. */
  accountOf: (workspace: string) => string;
  /** Called for each message that was sent without a block that Slack had refused. */
  onBlockRefused?: (block: string) => void;
  /** Called for each task that is started for a thread. */
  onTaskStarted?: (thread: ThreadKey, title: string) => void;
}

/** What the work on a thread runs with. */
export interface ThreadWork {
  readonly deps: RelayDeps;
  readonly workspace: WorkspaceClient;
  /** The right to work on the thread. */
  readonly lease: Lease;
}

/** What the work on a thread's task runs with. */
export interface TaskWork extends ThreadWork {
  readonly agent: AgentClient;
  readonly taskId: string;
}

/** What it takes to post what a task made for a turn, whose reply has settled. */
export interface SettledTurnContext extends TaskWork {
  readonly turn: Turn;
  readonly memory: TurnMemory;
}

export interface WorkspaceClientOptions extends Pick<SlackClientOptions, 'onCall'> {
  slackApiUrl: string;
  rateLimitStore: PermitStore;
  /** The app is distributed outside the Marketplace: Slack limits reading threads to a low rate. */
  isDistributed: boolean;
  editsPerMinute: number;
  /** How many times as fast as Slack's limits the calls go. */
  pace?: number | undefined;
  /** The app is declared as an agent: Slack shows that it is working, with Slack's own stop button. */
  showAgentSessions: boolean;
  /** The largest file that is downloaded from Slack, in bytes. */
  maxFileBytes: number;
  /** Called with the age (ms) of the text that an edit showed. */
  onEdit: (unseenMs: number) => void;
  log: Logger;
}

/** The calls to Slack in an installation's workspace. `uninstalled` is aborted when the app is uninstalled there. */
export function createWorkspaceClient(
  installation: Installation,
  options: WorkspaceClientOptions,
  gate: CallGate,
  uninstalled: AbortSignal = new AbortController().signal,
) {
  const { slackApiUrl, isDistributed: distributed, rateLimitStore: store, log } = options;
  const { maxFileBytes: maxBytes, editsPerMinute, onEdit } = options;
  const slackClient = new SlackClient({ installation, gate, ...options });
  const rateLimiter = new RateLimiter({
    workspace: installation.workspace,
    store,
    rateLimits: rateLimitTable({ distributed, editsPerMinute }),
    pace: options.pace,
    log,
  });
  const client = new RateLimitedClient(slackClient, rateLimiter);
  return {
    id: installation.workspace,
    uninstalled,
    wasThereAfter: (at: number) => slackClient.wasThereAfter(at),
    bot: { userId: installation.botUser, botId: installation.botId },
    posting: new Posting(client, log, onEdit),
    streams: new MessageStreams(client, log, onEdit),
    downloads: new FileDownloads({ client, maxBytes, slackApiUrl }),
    uploads: new FileUploads(client, slackApiUrl),
    views: new Views(client),
    workflowExecutions: new WorkflowExecutions(client),
    people: new SlackDirectory(client, log),
    membership: new ChannelMembership(client),
    readBack: new MessageHistory(client, distributed),
    /** Set if the app is declared as an agent. */
    sessions: options.showAgentSessions ? new AgentSessions(client, log) : undefined,
  };
}
