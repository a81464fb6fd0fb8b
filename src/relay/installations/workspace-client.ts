import type { Logger } from 'pino';
import { AgentSessions } from '../../slack/agent-sessions.ts';
import { Assistant } from '../../slack/assistant.ts';
import { ChannelMembership } from '../../slack/channel-membership.ts';
import { SlackDirectory } from '../../slack/directory.ts';
import { FileDownloads } from '../../slack/file-downloads.ts';
import { FileUploads } from '../../slack/file-uploads.ts';
import { MessageHistory } from '../../slack/message-history.ts';
import type { PermitStore } from '../../slack/permit-store.ts';
import { Posting } from '../../slack/posting.ts';
import { RateLimitedClient } from '../../slack/rate-limited-client.ts';
import { RateLimiter } from '../../slack/rate-limiter.ts';
import { editRateLimit, rateLimitTable } from '../../slack/rate-limits.ts';
import {
  type Installation,
  SlackClient,
  type SlackClientOptions,
  type TokenGate,
} from '../../slack/slack-client.ts';
import { Views } from '../../slack/views.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';

/** What the calls to Slack are made with, the same for every workspace. */
export interface WorkspaceClientOptions extends Pick<SlackClientOptions, 'onCall'> {
  slackApiUrl: string;
  rateLimitStore: PermitStore;
  /** The app is distributed and not in the Marketplace: threads are read back slowly. */
  isDistributed: boolean;
  editsPerMinute: number;
  /** The app is declared an agent: Slack shows that it works, with a stop button of its own. */
  showAgentSessions: boolean;
  /** Largest file that is taken from Slack, in bytes. */
  maxFileBytes: number;
  /** Hears how old (ms) the text was that an edit showed. */
  onEdit: (unseenMs: number) => void;
  log: Logger;
}

/** Stops calls with a token that was refused, and tells since when. */
export interface ObservedTokenGate extends TokenGate {
  readonly refusedSince: Date | undefined;
}

/** The calls to Slack in the workspace of an installation; `gone` tells when the app is uninstalled there. */
export function createWorkspaceClient(
  installation: Installation,
  options: WorkspaceClientOptions,
  gate: TokenGate,
  uninstalled: AbortSignal = new AbortController().signal,
): WorkspaceClient {
  const { slackApiUrl, isDistributed: distributed, rateLimitStore, log, maxFileBytes, onEdit } = options;
  const client = new SlackClient({ installation, gate, ...options });
  const rateLimiter = new RateLimiter({
    store: rateLimitStore,
    lanes: rateLimitTable({
      distributed,
      overrides: { 'chat.update': editRateLimit(options.editsPerMinute) },
    }),
    log,
  });
  const api = new RateLimitedClient(client, rateLimiter);
  return {
    id: installation.workspace,
    uninstalled,
    bot: { userId: installation.botUser, botId: installation.botId },
    posting: new Posting({ api, log, onEdit }),
    downloads: new FileDownloads({ api, maxBytes: maxFileBytes, slackApiUrl }),
    uploads: new FileUploads({ api, slackApiUrl }),
    views: new Views({ api }),
    people: new SlackDirectory({ api, log }),
    membership: new ChannelMembership({ api }),
    assistant: new Assistant({ api }),
    readBack: new MessageHistory({ api, distributed }),
    sessions: options.showAgentSessions ? new AgentSessions({ api, log }) : undefined,
  };
}
