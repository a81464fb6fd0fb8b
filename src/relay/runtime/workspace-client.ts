import type { Logger } from 'pino';
import type { CallGate } from '../../calls/credential-gate.ts';
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
