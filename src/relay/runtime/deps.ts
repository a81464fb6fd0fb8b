import type { Transaction } from 'kysely';
import type { Logger } from 'pino';
import type { AgentClient } from '../../agent/agent-client.ts';
import type { SupportedTaskOptions } from '../../agent/service-options.ts';
import type { FileLimits } from '../../render/strings/index.ts';
import type { AgentSessions } from '../../slack/agent-sessions.ts';
import type { Assistant } from '../../slack/assistant.ts';
import type { ChannelMembership } from '../../slack/channel-membership.ts';
import type { SlackDirectory } from '../../slack/directory.ts';
import type { FileDownloads } from '../../slack/file-downloads.ts';
import type { FileUploads } from '../../slack/file-uploads.ts';
import type { MessageHistory } from '../../slack/message-history.ts';
import type { Posting } from '../../slack/posting.ts';
import type { Views } from '../../slack/views.ts';
import type { ThreadKey } from '../../store/keys.ts';
import type { AllowedUsers, Tables, TaskControl, Turn } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { TurnLimits } from '../../store/threads/turn-usage.ts';
import type { Lease } from './lease.ts';

/** What the relay may do in one Slack workspace. */
export interface WorkspaceClient {
  readonly id: string;
  /** Aborted when the app is uninstalled there. */
  readonly uninstalled: AbortSignal;
  readonly bot: { readonly userId: string; readonly botId: string };
  readonly posting: Posting;
  readonly downloads: FileDownloads;
  readonly uploads: FileUploads;
  readonly views: Views;
  readonly people: SlackDirectory;
  readonly membership: ChannelMembership;
  readonly assistant: Assistant;
  readonly readBack: MessageHistory;
  /** Only where the app is declared an agent. */
  readonly sessions: AgentSessions | undefined;
}

/** How the files are shown that the agent makes. */
export interface ResultSettings {
  /** Largest picture or table that is put into the thread itself, in bytes; 0: none. */
  maxInlineBytes: number;
  /** Largest table whose first rows are shown, in bytes; 0: none. */
  maxTableBytes: number;
  /** How long a task is watched after its turn, for what comes later; 0: not at all. */
  followUpMs: number;
  /** The first look, and the shortest pause between two; it grows. */
  followUpIntervalMs: number;
  /** Makes links of ours that do not get old; undefined where they are not wanted. */
  stableLink: ((result: ResultLinkTarget) => string) | undefined;
}

/** What a link of ours leads to. */
export interface ResultLinkTarget extends ThreadKey {
  resultId: string;
}

/** The relay's settings; times in ms. */
export interface RelaySettings {
  /** Skill that every message runs. */
  skill: string | undefined;
  /** What can be chosen for a new task beside its title and model. */
  supportedTaskOptions: SupportedTaskOptions;
  maxTranscriptMessages: number;
  maxTranscriptCharacters: number;
  /** What is passed on of people's files. */
  fileLimits: FileLimits;
  /** How results are shown. */
  results: ResultSettings;
  /** How long a finished reply waits for a task that still works in the background. */
  maxBackgroundWaitMs: number;
  /** After how long without new content the thread says that the agent is silent. */
  silenceMs: number;
  /** Most messages that an answer takes. */
  maxReplyMessages: number;
  /** Whose messages are taken where a channel does not say it itself. */
  admits: AllowedUsers;
  /** Other bots whose messages are taken, by their ids (B…). */
  admitsBots: readonly string[];
  /** How much people and workspaces may ask. */
  quotas: TurnLimits;
  /** Who may use controls where a channel does not say it itself. */
  controlsBy: TaskControl;
  /** The emoji that stops the agent, without colons; '' for none. */
  stopReaction: string;
}

/** Both services and the store, as the relay's steps share them. */
export interface RelayDeps {
  readonly store: Store;
  readonly log: Logger;
  readonly settings: RelaySettings;
  /** Undefined where the bot is not installed any more. */
  workspace(id: string): WorkspaceClient | undefined;
  /** Puts a job for the thread into the queue, inside the transaction. */
  enqueue: (trx: Transaction<Tables>, thread: ThreadKey) => Promise<void>;
  /** The client of a service account. Throws AccountGone (an AgentNotFoundError) where it was replaced for good. */
  agent(account: string): AgentClient;
  /** The account that a workspace's new threads go to. */
  accountOf: (workspace: string) => string;
  /** Hears of each task that was started for a thread. */
  onTaskStarted?: (thread: ThreadKey, title: string) => void;
}

/** What is at hand to show what comes after a turn. */
export interface SettledTurnContext {
  deps: RelayDeps;
  workspace: WorkspaceClient;
  agent: AgentClient;
  /** The turn, whose reply has settled. */
  turn: Turn;
  taskId: string;
  lease: Lease;
}
