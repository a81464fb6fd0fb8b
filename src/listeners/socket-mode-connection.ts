import { addAbortListener } from 'node:events';
import { type App, SocketModeReceiver } from '@slack/bolt';
import type { Logger } from 'pino';
import { z } from 'zod';
import { parseJson } from '../calls/json.ts';
import { freshConnections } from '../calls/outbound-proxy.ts';
import { MAX_RETRY_AFTER_MS, sleepUnlessAborted, within } from '../calls/retries-and-waits.ts';
import { inBackground } from '../relay/runtime/poller.ts';
import { backoffMs } from '../relay/runtime/retry-and-giving-up.ts';
import { errorForCode } from '../slack/error-mapping.ts';
import { SlackAuthError } from '../slack/errors.ts';
import { optional } from '../slack/field-schemas.ts';
import { createSlackLogger, packageErrorSchema, webClientOptions } from '../slack/slack-client.ts';

/** How long Slack may take to return an address, and then to say hello (ms). */
const API_TIMEOUT_MS = 10_000;
const HELLO_TIMEOUT_MS = 15_000;
/** A connection that lasted this long (ms) is reopened without a pause. */
const STABLE_CONNECTION_MS = 5_000;
const CLOSE_TIMEOUT_MS = 1_000;

export interface SocketModeConnectionDeps {
  app: App;
  appToken: string;
  slackApiUrl: string;
  /** Called when the connection is open, and events can arrive. */
  onConnected: () => void;
  log: Logger;
}

/** Slack's refusals of an app token that no retry mends, beside those of any token. */
const DEAD_APP_TOKEN_CODES = new Set(['not_allowed_token_type', 'team_disabled', 'user_removed_from_team']);

const throttledSchema = z.looseObject({ retryAfter: z.number() });
const disconnectSchema = z.looseObject({ type: z.literal('disconnect'), reason: optional(z.string()) });

/**
 * One Socket Mode connection that reopens whenever it ends. Bolt's client could do that, but it stays 5 s without a
 * connection at each of Slack's refreshes, and fails with an uncaught rejection. So each Bolt client connects once, and
 * this class does the rest.
 */
export class SocketModeConnection {
  readonly #firstResult = Promise.withResolvers<void>();
  /** Settles after the first attempt, open or not. Rejects with a SlackAuthError. */
  readonly firstAttempt = this.#firstResult.promise;
  /** Whether the connection is open and Slack has said hello. */
  isConnected = false;
  /** Why the last attempt failed; undefined while connected. */
  lastError: string | undefined;
  readonly #deps: SocketModeConnectionDeps;
  readonly #closing = new AbortController();
  readonly #running: Promise<void>;

  constructor(deps: SocketModeConnectionDeps) {
    this.#deps = deps;
    this.firstAttempt.catch(() => undefined);
    this.#running = this.#run();
  }

  /** Closes the connection for good; waits at most a second for Slack to close it too. */
  async close(): Promise<void> {
    this.#closing.abort();
    await within(CLOSE_TIMEOUT_MS, this.#running, undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = 0;
      const from = performance.now();
      try {
        await this.#connectOnce(failures > 0);
        failures = performance.now() - from < STABLE_CONNECTION_MS ? failures + 1 : 0;
      } catch (error) {
        if (signal.aborted) break;
        failures += 1;
        waitMs = this.#recordFailure(error, failures);
      }
      if (failures > 0) waitMs = Math.max(waitMs, backoffMs(failures));
      await sleepUnlessAborted(waitMs, signal);
    }
    this.#firstResult.resolve();
  }

  /** Logs a failed attempt; returns how long Slack asks to wait (ms). */
  #recordFailure(error: unknown, failures: number): number {
    const reason = error instanceof Error ? error.message : 'Slack closed the connection before saying hello';
    this.lastError = reason;
    this.#deps.log.warn({ reason, failures }, 'could not open a Socket Mode connection; will retry');
    if (error instanceof SlackAuthError) this.#firstResult.reject(error);
    else this.#firstResult.resolve();
    const throttled = throttledSchema.safeParse(error);
    return throttled.success ? Math.min(throttled.data.retryAfter * 1_000, MAX_RETRY_AFTER_MS) : 0;
  }

  /** Connects, and returns when the connection has ended. Throws if it never opened. */
  async #connectOnce(isReconnect: boolean): Promise<void> {
    const { log, onConnected } = this.#deps;
    const { signal } = this.#closing;
    const { client } = this.#receiver();
    catchFrameErrors(client, log);
    const ended = Promise.withResolvers<string>();
    client.once('disconnected', () => ended.resolve('cut'));
    client.on('ws_message', (data: unknown) => {
      const reason = disconnectReason(data);
      if (reason !== undefined) ended.resolve(reason);
    });
    using _leave = addAbortListener(signal, () => ended.resolve('closed by us'));
    const started = client.start();
    try {
      const opened = Promise.race([started.then(() => true), ended.promise]);
      const timeoutMs = API_TIMEOUT_MS + HELLO_TIMEOUT_MS;
      const hello = await within(timeoutMs, opened, 'no hello in time').catch((error: unknown) =>
        Promise.reject(toSlackAuthError(error)),
      );
      if (hello !== true) throw new Error(`Slack closed the connection before saying hello (${hello}).`);
      this.isConnected = true;
      this.lastError = undefined;
      this.#firstResult.resolve();
      if (isReconnect) log.info('Socket Mode connection reopened');
      onConnected();
      const reason = await ended.promise;
      log.debug({ reason }, 'Socket Mode connection ended');
    } finally {
      this.isConnected = false;
      await disconnect(client, started);
    }
  }

  #receiver(): SocketModeReceiver {
    const { app, appToken, slackApiUrl, log } = this.#deps;
    const receiver = new SocketModeReceiver({
      dispatcher: freshConnections,
      appToken,
      autoReconnectEnabled: false,
      logger: createSlackLogger(log, true),
      installerOptions: {
        clientOptions: { ...webClientOptions(slackApiUrl), timeout: API_TIMEOUT_MS },
      },
      processEventErrorHandler: async ({ error }) => {
        log.debug({ err: error }, 'could not record an event; Slack will send it again');
        return false;
      },
    });
    receiver.init(app);
    return receiver;
  }
}

type SocketModeClient = SocketModeReceiver['client'];

/** Closes a client's connection, even one still being opened; continues in the background after a second. */
async function disconnect(client: SocketModeClient, started: Promise<unknown>): Promise<void> {
  const close = () => client.disconnect();
  void started.then(close, () => undefined);
  await within(CLOSE_TIMEOUT_MS, close(), undefined);
}

/** Why Slack asks to close the connection: `warning`, `refresh_requested`, `too_many_websockets`, …; else undefined. */
function disconnectReason(data: unknown): string | undefined {
  if (typeof data !== 'string' || data.length > 1_000 || !data.includes('"disconnect"')) return undefined;
  const parsed = disconnectSchema.safeParse(parseJson(data));
  return parsed.success ? (parsed.data.reason ?? 'no reason') : undefined;
}

function toSlackAuthError(error: unknown): unknown {
  const slackCode = packageErrorSchema.safeParse(error).data?.data.error ?? '';
  const method = 'apps.connections.open';
  const isDead =
    DEAD_APP_TOKEN_CODES.has(slackCode) || errorForCode(method, slackCode) instanceof SlackAuthError;
  if (!isDead) return error;
  const call = { method, slackCode, outcome: 'none', cause: error } as const;
  return new SlackAuthError(
    call,
    `Slack rejects SLACK_APP_TOKEN (${slackCode}). Create a new one with connections:write under "Basic Information", "App-Level Tokens".`,
  );
}

/** Catches what Bolt's client throws at odd frames, such as an event without an inner one (`app_rate_limited`). */
function catchFrameErrors(client: SocketModeClient, log: Logger): void {
  const listeners = client.listeners('ws_message');
  client.removeAllListeners('ws_message');
  client.on('ws_message', (...frame: unknown[]) => {
    for (const listener of listeners)
      inBackground(
        (async () => listener.apply(client, frame))(),
        log,
        'could not handle a Socket Mode frame',
        'warn',
      );
  });
}
