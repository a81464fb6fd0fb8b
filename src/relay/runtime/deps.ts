import type { Logger } from 'pino';
import type { AgentClient } from '../../agent/agent-client.ts';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import type { CallGate } from '../../calls/credential-gate.ts';
import { RELAY_LIMITS, type RelayLimits } from '../../limits.ts';
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
import type { AllowedUsers, ListenMode, TaskControl, ThreadKey, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { TurnLimits } from '../../store/threads/turn-usage.ts';
import type { Lease } from './lease.ts';
import type { ReadRate } from './read-rate.ts';
import type { RenderQueue } from './render-queue.ts';
import type { ReplyMemory, TurnMemory } from './reply-memory.ts';

/** The Slack calls of one workspace. */
export type WorkspaceClient = Readonly<ReturnType<typeof createWorkspaceClient>>;

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

/** A prompt that people can choose where they ask. */
export interface OfferedPrompt {
  /** Differs from that of every other prompt of its list. */
  title: string;
  /** What it does. */
  line: string;
  /** What is sent, as if somebody had typed it: it may begin with flags, such as `--skill name`. */
  prompt: string;
}

/** The relay's settings. */
export interface RelaySettings extends RelayLimits, Pick<FileLimits, 'allowedTypes' | 'refusedTypes'> {
  /** Skill that every message runs. */
  skill: string | undefined;
  /** The operator's prompts, which are offered in every channel. */
  prompts: readonly OfferedPrompt[];
  /** What people can choose for a new task, beside its title and model. */
  supportedTaskOptions: SupportedTaskOptions;
  /** Most bytes of files in the record of a task; 0 for none. */
  maxRecordBytes: number;
  /** Makes a link of ours, which outlasts the service's; undefined if such links are off. */
  stableLink: ((result: ResultLinkTarget) => string) | undefined;
  /** Direct messages show the text of replies as streams. */
  streamsDirectMessages: boolean;
  /** The only places in which the bot answers. */
  answers: AnswerLimits;
  /** Whose messages are accepted, unless a channel has its own setting. */
  allowedUsers: AllowedUsers;
  /** A key encrypts the texts that people set. */
  keepsTexts: boolean;
  /** Which replies in threads that people began are for the agent, unless a workspace or channel says so. */
  listenMode: ListenMode;
  /** The ids (B…) of other bots whose messages are accepted. */
  allowedBots: readonly string[];
  /** How many turns people and workspaces may start. */
  quotas: TurnLimits;
  /** Registries are asked about the sources of answers. */
  checksSources: boolean;
  /** Who may use controls, unless a channel has its own setting. */
  taskControl: TaskControl;
  /** Words, beside the English ones, that stop the agent as a whole message. */
  stopWords: readonly string[];
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
  /** Asks for the job of the thread's turns, with the store of a transaction. */
  enqueue: (within: Store, thread: ThreadKey) => Promise<void>;
  readonly rendering: RenderQueue;
  readonly replyMemory: ReplyMemory;
  /** The client of a service account. Throws AccountGone (an AgentNotFoundError) if another account replaced it. */
  agent(account: string): AgentClient;
  /** How fast the replies of a service account are read. */
  readRate: (account: string) => ReadRate;
  /** The account of a workspace's new threads. */
  accountOf: (workspace: string) => string;
  /** Called for each message that was sent without a block that Slack had refused. */
  onBlockRefused?: (block: string) => void;
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
  /** How long after its intent a call has surely ended (ms). */
  callLifetimeMs?: number;
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
    blocksLeftOutUntil: new Map<string, number>(),
    wasThereAfter: (at: number) => slackClient.presence.wasThereAfter(at),
    callLifetimeMs: options.callLifetimeMs ?? RELAY_LIMITS.slackCallLifetimeMs,
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
