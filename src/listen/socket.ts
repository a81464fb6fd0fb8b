import { setTimeout as sleep } from 'node:timers/promises';
import { type App, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { pauseMs } from '../relay/patience.ts';
import { LONGEST_PAUSE_MS } from '../slack/errors.ts';
import { quietBoltLogger } from './bolt-logger.ts';
import { screenFrames } from './frames.ts';
import { jsonOf } from './json.ts';

/** How long Slack may take to name an address, and then to say hello (ms). */
const answerMs = 10_000;
const helloMs = 15_000;
/** A connection that stood for so long (ms) is made anew at once when it ends. */
const stoodMs = 5_000;
/** How long a close waits for Slack's (ms). */
const goodbyeMs = 1_000;

/** What one connection needs. */
export interface SocketParts {
  app: App;
  appToken: string;
  slackApiUrl: string;
  /** Hears when the connection stands. */
  onLive: () => void;
  log: Logger;
}

/** Slack does not take the app-level token. */
export class AppTokenRefused extends Error {
  readonly code = 'app_token_refused';

  constructor(slackCode: string, cause: unknown) {
    super(
      `Slack does not take SLACK_APP_TOKEN (${slackCode}). Make a new one with connections:write under "Basic Information", "App-Level Tokens".`,
      { cause },
    );
    this.name = 'AppTokenRefused';
  }
}

/** https://docs.slack.dev/reference/methods/apps.connections.open, those that stay so until somebody mends them. */
const refusals = new Set([
  'account_inactive',
  'invalid_auth',
  'missing_scope',
  'not_allowed_token_type',
  'not_authed',
  'team_disabled',
  'token_revoked',
  'user_removed_from_team',
]);

const refusal = z.looseObject({ data: z.looseObject({ error: z.string() }) });
const throttle = z.looseObject({ retryAfter: z.number() });
const farewell = z.looseObject({ type: z.literal('disconnect'), reason: z.string().optional() });

/**
 * One connection of Socket Mode that is made anew whenever it ends. Bolt's client does that too, but it waits 5 s with
 * no connection at each of Slack's refreshes, and a refusal is a rejection that nobody can catch; so each client of
 * Bolt's connects once, and the rest is done here.
 */
export class Socket {
  /** Settles after the first attempt: true when it stands. Rejects with AppTokenRefused. */
  readonly first: Promise<boolean>;
  readonly #parts: SocketParts;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;
  readonly #told = Promise.withResolvers<boolean>();
  #live = false;
  #trouble: string | undefined;

  constructor(parts: SocketParts) {
    this.#parts = parts;
    this.first = this.#told.promise;
    this.first.catch(() => undefined);
    this.#running = this.#run();
  }

  /** Whether Slack has said hello and the connection stands. */
  get live(): boolean {
    return this.#live;
  }

  /** Why there is no connection, where the last attempt failed. */
  get trouble(): string | undefined {
    return this.#trouble;
  }

  /** Closes the connection for good; waits a second at most for Slack to close it too. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.race([this.#running, sleep(goodbyeMs, undefined, { ref: false })]);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = 0;
      const from = performance.now();
      try {
        await this.#stand(failures > 0);
        failures = performance.now() - from < stoodMs ? failures + 1 : 0;
      } catch (error) {
        if (signal.aborted) break;
        failures += 1;
        waitMs = this.#failed(error, failures);
      }
      if (failures > 0) waitMs = Math.max(waitMs, pauseMs(failures));
      await sleep(waitMs, undefined, { signal }).catch(() => undefined);
    }
    this.#told.resolve(false);
  }

  /** Tells of an attempt that failed; the answer is how long Slack asked to be left alone (ms). */
  #failed(error: unknown, failures: number): number {
    const reason = error instanceof Error ? error.message : 'Slack closed the connection before its hello';
    this.#trouble = reason;
    this.#parts.log.warn({ reason, failures }, 'Slack gave no connection; it is tried again');
    if (error instanceof AppTokenRefused) this.#told.reject(error);
    else this.#told.resolve(false);
    const throttled = throttle.safeParse(error);
    return throttled.success ? Math.min(throttled.data.retryAfter * 1_000, LONGEST_PAUSE_MS) : 0;
  }

  /** Connects, and returns when the connection has ended. Throws where there never was one. */
  async #stand(again: boolean): Promise<void> {
    const { log, onLive } = this.#parts;
    const { signal } = this.#closing;
    const { client } = this.#receiver();
    screenFrames(client, log);
    const ended = Promise.withResolvers<string>();
    client.once('disconnected', () => ended.resolve('cut'));
    client.on('ws_message', (data: unknown) => {
      const reason = farewellIn(data);
      if (reason !== undefined) ended.resolve(reason);
    });
    const leave = () => ended.resolve('closed by us');
    signal.addEventListener('abort', leave);
    const started = client.start();
    try {
      const hello = await Promise.race([
        started.then(() => true),
        ended.promise,
        sleep(answerMs + helloMs, 'no hello in time', { signal, ref: false }),
      ]).catch((error: unknown) => Promise.reject(asRefusal(error)));
      if (hello !== true) throw new Error(`Slack closed the connection before its hello (${hello}).`);
      this.#live = true;
      this.#trouble = undefined;
      this.#told.resolve(true);
      if (again) log.info('a Slack connection is back');
      onLive();
      const reason = await ended.promise;
      log.debug({ reason }, 'a Slack connection ended');
    } finally {
      this.#live = false;
      signal.removeEventListener('abort', leave);
      await hungUp(client, started);
    }
  }

  #receiver(): SocketModeReceiver {
    const { app, appToken, slackApiUrl, log } = this.#parts;
    const receiver = new SocketModeReceiver({
      appToken,
      autoReconnectEnabled: false,
      logger: quietBoltLogger(log),
      installerOptions: {
        clientOptions: {
          slackApiUrl,
          allowAbsoluteUrls: false,
          retryConfig: { retries: 0 },
          rejectRateLimitedCalls: true,
          timeout: answerMs,
        },
      },
      processEventErrorHandler: async ({ error }) => {
        log.warn({ err: error }, 'an event could not be acknowledged; Slack sends it again');
        return false;
      },
    });
    receiver.init(app);
    return receiver;
  }
}

type Client = SocketModeReceiver['client'];

/** Closes a client's connection, also one that is only being made; where that takes time, behind our back. */
async function hungUp(client: Client, started: Promise<unknown>): Promise<void> {
  const close = () => client.disconnect();
  void started.then(close, () => undefined);
  await Promise.race([close(), sleep(goodbyeMs, undefined, { ref: false })]);
}

/** Why Slack asks the connection to go: `warning`, `refresh_requested`, `too_many_websockets`, …; else undefined. */
function farewellIn(data: unknown): string | undefined {
  if (typeof data !== 'string' || data.length > 1_000 || !data.includes('"disconnect"')) return undefined;
  const parsed = farewell.safeParse(jsonOf(data));
  return parsed.success ? (parsed.data.reason ?? 'no reason') : undefined;
}

function asRefusal(error: unknown): unknown {
  const parsed = refusal.safeParse(error);
  if (!parsed.success || !refusals.has(parsed.data.data.error)) return error;
  return new AppTokenRefused(parsed.data.data.error, error);
}
