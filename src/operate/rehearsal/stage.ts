import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { AgentClient } from '../../agent/agent-client.ts';
import { CredentialGate } from '../../calls/credential-gate.ts';
import { repeatCall } from '../../calls/retries-and-waits.ts';
import type { Config } from '../../config/environment-and-secret-files.ts';
import { RELAY_LIMITS } from '../../limits.ts';
import { formSender, REPLY_FORMS } from '../../relay/replies/fallback-forms.ts';
import { createWorkspaceClient } from '../../relay/runtime/deps.ts';
import { transientFailure } from '../../relay/runtime/retry-and-giving-up.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { identifyToken } from '../../slack/tokens.ts';
import { SharedRateLimits } from '../../store/slack/shared-rate-limits.ts';
import type { Store } from '../../store/store.ts';

/** A call that a step made: its method or endpoint, and how it went. */
export interface PlayedCall {
  call: string;
  outcome: string;
  ms: number;
}

export interface StageOptions {
  config: Config;
  store: Pick<Store, 'db'>;
  /** Slack's ids of the channel, and of the person who gets a direct message. */
  channel: string;
  person?: string | undefined;
  /** How many times as fast as Slack's limits it calls Slack, where nobody else enforces them. */
  pace?: number | undefined;
}

/** How often a deletion is tried, and the pause after the first time (ms); it grows with each one. */
const MAX_DELETIONS = 5;
const DELETION_PAUSE_MS = 500;

/** What the steps of a rehearsal share. */
export type Stage = Awaited<ReturnType<typeof openStage>>;

/** Opens Slack and the service as the bot does. Throws a SlackError, or a TypeError for an invalid setting. */
export async function openStage({ config, store, channel, person, pace }: StageOptions) {
  const { SLACK_BOT_TOKEN: token = '', SLACK_API_URL: slackApiUrl } = config;
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  const log = pino({ level: 'silent' });
  const calls: PlayedCall[] = [];
  const noteCall = (call: string, outcome: string, ms: number) =>
    void calls.push({ call, outcome, ms: Math.round(ms) });
  const { installation } = await identifyToken({ token, slackApiUrl, log });
  const workspace = createWorkspaceClient(
    installation,
    {
      slackApiUrl,
      rateLimitStore: new SharedRateLimits(store.db),
      isDistributed: config.SLACK_DISTRIBUTED,
      editsPerMinute: RELAY_LIMITS.editsPerMinute,
      pace,
      showAgentSessions: config.AGENT_SESSIONS,
      maxFileBytes: RELAY_LIMITS.maxFileBytes,
      onEdit: () => undefined,
      onCall: ({ method, outcome, durationMs }) => noteCall(method, outcome, durationMs),
      log,
    },
    new CredentialGate({ setting: 'SLACK_BOT_TOKEN', log }),
  );
  const agent =
    baseUrl === undefined || apiKey === undefined
      ? undefined
      : new AgentClient({
          ...{ baseUrl, apiKey, log, serviceOptions: config.AGENT_DIALECT },
          allowedHosts: config.PRIVATE_HOSTS,
          onAttempt: ({ call, status = 'no response', durationMs }) =>
            noteCall(call, String(status), durationMs),
        });
  const id = randomUUID();
  const begunAt = new Date();
  /** The timestamps of the posts that have succeeded, and the tasks at the service. */
  const posts: string[] = [];
  const tasks: string[] = [];
  const leftBehind: { what: string; remove: () => Promise<unknown> }[] = [];

  /** Notes what is to be deleted in the end. */
  function leaves(what: string, remove: () => Promise<unknown>): void {
    leftBehind.push({ what, remove });
  }

  function leavesPost(at: { channel: string; ts: string }): void {
    posts.push(at.ts);
    leaves('message', () => workspace.posting.delete(at));
  }

  /** Posts in the channel, below the first post there, or in a direct message. Throws a SlackError. */
  async function post(message: RenderedMessage, to = channel): Promise<string> {
    const threadTs = to === channel ? posts[0] : undefined;
    const key = posts.length === 0 ? id : randomUUID();
    const { ts } = await workspace.posting.post({ channel: to, threadTs, message, key, kind: 'further' });
    leavesPost({ channel: to, ts });
    return ts;
  }

  /** Posts a message of a reply in the first form that Slack accepts; returns what that lacks, undefined if nothing. */
  async function show(message: RenderedMessage): Promise<string | undefined> {
    const send = formSender({ deps: { log }, workspace }, { id });
    let shown = message;
    await send(
      'rehearsal',
      REPLY_FORMS,
      () => message,
      (form) => {
        shown = form(message);
        return post(shown);
      },
    );
    const types = shown.blocks.map(({ type }) => type);
    const missing = message.blocks.flatMap(({ type }) => (types.includes(type) ? [] : [type]));
    if (missing.length > 0) return `without ${[...new Set(missing)].join(', ')}`;
    return shown.blocks.length < message.blocks.length ? 'in a simpler form' : undefined;
  }

  /** Also what arrived although its call failed, and the posts of shared files. Throws a SlackError. */
  async function noteThread(): Promise<void> {
    const { readBack, bot } = workspace;
    const threadTs = posts[0] ?? (await readBack.findOwnPost({ channel, key: id, intendedAt: begunAt }))?.ts;
    if (threadTs === undefined) return;
    for await (const { ts, user } of readBack.messages({ channel, threadTs }))
      if (user === bot.userId && !posts.includes(ts)) leavesPost({ channel, ts });
  }

  /** Deletes all that is left, each of it also if another one fails; returns what could not be deleted. */
  async function clear(): Promise<string[]> {
    const kept: string[] = [];
    const tryEach = (what: string, work: () => Promise<unknown>) =>
      repeatCall(work, (error, attempt) => {
        const failure = attempt < MAX_DELETIONS ? transientFailure(error) : undefined;
        return failure && Math.max(failure.waitMs ?? 0, DELETION_PAUSE_MS * attempt);
      }).catch(() => kept.push(what));
    await tryEach('messages of the thread (it could not be read)', noteThread);
    for (const { what, remove } of leftBehind.splice(0).reverse()) await tryEach(what, remove);
    await agent?.close();
    return kept;
  }

  return { id, workspace, agent, channel, person, calls, posts, tasks, leaves, post, show, clear };
}
