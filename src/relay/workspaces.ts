import type { Logger } from 'pino';
import { Assistant } from '../slack/assistant.ts';
import { Budget } from '../slack/budget.ts';
import { type Installation, SlackClient, type SlackClientOptions, type TokenGate } from '../slack/client.ts';
import { Downloads } from '../slack/downloads.ts';
import type { LaneStore } from '../slack/lane-store.ts';
import { editLane, laneTable } from '../slack/limits.ts';
import { Membership } from '../slack/membership.ts';
import { PacedClient } from '../slack/paced-client.ts';
import { People } from '../slack/people.ts';
import { Posting } from '../slack/posting.ts';
import { ReadBack } from '../slack/read-back.ts';
import { Sessions } from '../slack/sessions.ts';
import { Uploads } from '../slack/uploads.ts';
import { Views } from '../slack/views.ts';
import type { Workspace } from './context.ts';

/** What the calls to Slack are made with, the same for every workspace. */
export interface WorkspaceOptions extends Pick<SlackClientOptions, 'onCall'> {
  slackApiUrl: string;
  lanes: LaneStore;
  /** The app is distributed and not in the Marketplace: threads are read back slowly. */
  distributed: boolean;
  editsPerMinute: number;
  /** The app is declared an agent: Slack shows that it works, with a stop button of its own. */
  agentSessions: boolean;
  /** Largest file that is taken from Slack, in bytes. */
  fileBytes: number;
  /** Hears how old (ms) the text was that an edit showed. */
  onEdit: (unseenMs: number) => void;
  log: Logger;
}

/** Stops calls with a token that was refused, and tells since when. */
export interface ObservedGate extends TokenGate {
  readonly refusedSince: Date | undefined;
}

/** The calls to Slack in the workspace of an installation; `gone` tells when the app is uninstalled there. */
export function workspaceOf(
  installation: Installation,
  options: WorkspaceOptions,
  gate: TokenGate,
  gone: AbortSignal = new AbortController().signal,
): Workspace {
  const { slackApiUrl, distributed, lanes, log, fileBytes, onEdit } = options;
  const client = new SlackClient({ installation, gate, ...options });
  const budget = new Budget({
    store: lanes,
    lanes: laneTable({ distributed, overrides: { 'chat.update': editLane(options.editsPerMinute) } }),
    log,
  });
  const api = new PacedClient(client, budget);
  return {
    id: installation.workspace,
    gone,
    bot: { userId: installation.botUser, botId: installation.botId },
    posting: new Posting({ api, log, onEdit }),
    downloads: new Downloads({ api, mostBytes: fileBytes, slackApiUrl }),
    uploads: new Uploads({ api, slackApiUrl }),
    views: new Views({ api }),
    people: new People({ api, log }),
    membership: new Membership({ api }),
    assistant: new Assistant({ api }),
    readBack: new ReadBack({ api, distributed }),
    sessions: options.agentSessions ? new Sessions({ api, log }) : undefined,
  };
}
