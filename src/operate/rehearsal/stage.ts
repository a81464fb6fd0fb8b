import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { AgentClient } from '../../agent/agent-client.ts';
import { CredentialGate } from '../../calls/credential-gate.ts';
import type { Config } from '../../config.ts';
import { RELAY_LIMITS } from '../../limits.ts';
import { formSender, type MessageForm, REPLY_FORMS } from '../../relay/replies/fallback-forms.ts';
import { createWorkspaceClient, type WorkspaceClient } from '../../relay/runtime/deps.ts';
import type { RenderedMessage } from '../../render/blocks/slack-blocks.ts';
import { retryTransient } from '../../slack/errors.ts';
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
  log: Logger;
  /** How many times as fast as Slack's limits it calls Slack, where nobody else enforces them. */
  pace?: number | undefined;
}

/** Opens Slack and the service as the bot does. Throws a SlackError, or a TypeError for an invalid setting. */
export async function openStage({ config, store, log, pace, ...where }: StageOptions) {
  const { SLACK_BOT_TOKEN: token = '', SLACK_API_URL: slackApiUrl } = config;
  const calls: PlayedCall[] = [];
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
      maxFileBytes: config.FILE_LIMIT_MIB * 1024 * 1024,
      onEdit: () => undefined,
      onCall: ({ method, outcome, durationMs: ms }) => void calls.push({ call: method, outcome, ms }),
      log,
    },
    new CredentialGate({ setting: 'SLACK_BOT_TOKEN', log }),
  );
  const { AGENT_BASE_URL: baseUrl, AGENT_API_KEY: apiKey } = config;
  const agent =
    baseUrl === undefined || apiKey === undefined
      ? undefined
      : new AgentClient({
          ...{ baseUrl, apiKey, log, serviceOptions: config.AGENT_DIALECT },
          allowedHosts: config.PRIVATE_HOSTS,
          onAttempt: ({ call, status, durationMs: ms }) =>
            void calls.push({ call, outcome: String(status ?? 'no response'), ms }),
        });
  return new Stage({ workspace, agent, calls, log, ...where });
}

/** What the steps of a rehearsal share. */
export class Stage {
  readonly workspace: WorkspaceClient;
  readonly agent: AgentClient | undefined;
  readonly channel: string;
  readonly person: string | undefined;
  /** The calls since `takeCalls`. */
  readonly #calls: PlayedCall[];
  readonly #log: Logger;
  readonly id = randomUUID();
  /** The first post, whose thread has the others. */
  root: string | undefined;
  /** The task at the service that runs the small task. */
  taskId: string | undefined;
  #begunAt: Date | undefined;
  readonly #posted = new Set<string>();
  #parts = 0;
  /** Deletes what was left behind, the first one first. */
  readonly #leftBehind: { what: string; remove: () => Promise<unknown> }[] = [];

  constructor(
    parts: Pick<Stage, 'workspace' | 'agent'> &
      Pick<StageOptions, 'channel' | 'person' | 'log'> & { calls: PlayedCall[] },
  ) {
    this.workspace = parts.workspace;
    this.agent = parts.agent;
    this.channel = parts.channel;
    this.person = parts.person;
    this.#calls = parts.calls;
    this.#log = parts.log;
  }

  takeCalls(): PlayedCall[] {
    return this.#calls.splice(0);
  }

  /** Notes what is to be deleted in the end. */
  leaves(what: string, remove: () => Promise<unknown>): void {
    this.#leftBehind.push({ what, remove });
  }

  /** Posts the first post. Throws a SlackError. */
  async begin(message: RenderedMessage): Promise<void> {
    this.#begunAt = new Date();
    this.root = await this.post(message);
  }

  /** Posts in the thread, or in a direct message. Throws a SlackError. */
  async post(message: RenderedMessage, channel = this.channel): Promise<string> {
    const threadTs = channel === this.channel ? this.root : undefined;
    this.#parts += 1;
    const key = `${this.id}/${this.#parts}`;
    const { ts } = await this.workspace.posting.post({ channel, threadTs, message, key, kind: 'final' });
    this.#posted.add(ts);
    this.leaves('message', () => this.workspace.posting.delete({ channel, ts }));
    return ts;
  }

  /** Posts a message of a reply in the first form that Slack accepts; returns what that lacks, undefined if nothing. */
  async show(
    message: RenderedMessage,
    forms: readonly MessageForm[] = REPLY_FORMS,
  ): Promise<string | undefined> {
    const send = formSender({ deps: { log: this.#log }, workspace: this.workspace }, this);
    let shown = message;
    await send(
      'rehearsal',
      forms,
      () => message,
      async (form) => {
        shown = form(message);
        return this.post(shown);
      },
    );
    const types = shown.blocks.map(({ type }) => type);
    const missing = message.blocks.flatMap(({ type }) => (types.includes(type) ? [] : [type]));
    if (missing.length > 0) return `without ${[...new Set(missing)].join(', ')}`;
    return shown.blocks.length < message.blocks.length ? 'in a simpler form' : undefined;
  }

  /** Deletes all that is left, each of it also if another one fails; returns what could not be deleted. */
  async clear(): Promise<string[]> {
    const kept: string[] = [];
    await this.#noteThread().catch((error: unknown) => {
      this.#log.warn({ err: error }, 'could not read what a rehearsal left');
      kept.push('messages of the thread (it could not be read)');
    });
    for (const { what, remove } of this.#leftBehind.splice(0).reverse())
      await retryTransient(async () => void (await remove())).catch((error: unknown) => {
        this.#log.warn({ err: error }, 'could not delete what a rehearsal left');
        kept.push(what);
      });
    return kept;
  }

  async close(): Promise<void> {
    await this.agent?.close();
  }

  /** Also what arrived although its call failed, and the posts of shared files. Throws a SlackError. */
  async #noteThread(): Promise<void> {
    const { channel, workspace, root } = this;
    if (this.#begunAt === undefined) return;
    const first = { channel, key: `${this.id}/1`, intendedAt: this.#begunAt };
    const threadTs = root ?? (await workspace.readBack.findOwnPost(first))?.ts;
    if (threadTs === undefined) return;
    for await (const { ts, user } of workspace.readBack.messages({ channel, threadTs }))
      if (user === workspace.bot.userId && !this.#posted.has(ts))
        this.leaves('message', () => workspace.posting.delete({ channel, ts }));
  }
}
