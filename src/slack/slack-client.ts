import { AsyncLocalStorage } from 'node:async_hooks';
import { type FetchFunction, LogLevel, type Logger as SlackLogger, WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { CallGate } from '../calls/credential-gate.ts';
import { countLeftOut } from '../calls/json.ts';
import { fetch, freshConnections, keptConnections } from '../calls/outbound-proxy.ts';
import { type LeaseGuard, parseRetryAfter } from '../calls/retries-and-waits.ts';
import { SharedQuestion } from '../calls/shared-calls.ts';
import { type InFlightRequest, toSlackError, unreadableResponse } from './error-mapping.ts';
import { assertLeaseHeld, SlackAuthError } from './errors.ts';

export const SLACK_API_URL = 'https://slack.com/api/';

/** Time limit of one call (ms): shorter than a lease, so that a lost lease is noticed in time. */
export const CALL_TIMEOUT_MS = 5_000;

/** How often Slack is asked whether it is there (ms), however many want to know. */
const PRESENCE_INTERVAL_MS = 1_000;

export const anyResponseSchema = z.looseObject({});

export interface SlackCallRecord {
  workspace: string;
  method: string;
  /** `ok`, or the code of the error. */
  outcome: string;
  durationMs: number;
}

export interface SlackClientOptions {
  installation: Installation;
  log: Logger;
  gate?: CallGate | undefined;
  /** Another address, for tests and the sandbox. */
  slackApiUrl?: string | undefined;
  timeoutMs?: number | undefined;
  onCall?: ((call: SlackCallRecord) => void) | undefined;
}

export interface SlackCallOptions<S extends z.ZodType> {
  /** The fields of the response that are read; use `z.looseObject`. */
  schema: S;
  guard?: LeaseGuard | undefined;
}

/** Slack's Web API for one installation: one call is one request, and fails with one typed error. */
export class SlackClient {
  readonly installation: Installation;
  readonly #options: SlackClientOptions;
  #webClient: { token: string; client: WebClient } | undefined;
  // WebClient has one timeout per client; ours is per call. Its queue starts a request in the caller's async
  // context as long as it never waits, hence the unlimited concurrency.
  readonly #inFlight = new AsyncLocalStorage<InFlightRequest>();
  /** When a call last succeeded (`performance.now()`). */
  #lastSuccessAt = Number.NEGATIVE_INFINITY;
  readonly #presence = new SharedQuestion(PRESENCE_INTERVAL_MS, () =>
    this.call('auth.test', {}, { schema: anyResponseSchema }),
  );

  constructor(options: SlackClientOptions) {
    this.installation = options.installation;
    this.#options = options;
  }

  #webClientForToken(): WebClient {
    const { installation, slackApiUrl, log } = this.#options;
    const { token } = installation;
    if (this.#webClient?.token !== token) {
      const client = new WebClient(token, {
        ...webClientOptions(slackApiUrl ?? SLACK_API_URL),
        maxRequestConcurrency: Number.POSITIVE_INFINITY,
        logger: createSlackLogger(log, true),
        fetch: this.#fetch,
        ...(installation.isOrgToken === true ? { teamId: installation.workspace } : {}),
      });
      this.#webClient = { token, client };
    }
    return this.#webClient.client;
  }

  /** Whether Slack has answered this token well after `at` (`performance.now()`); asks it, where no call has succeeded. */
  async wasThereAfter(at: number): Promise<boolean> {
    if (this.#lastSuccessAt <= at) await this.#presence.answered();
    return this.#lastSuccessAt > at;
  }

  /**
   * Calls a method once. Sends nothing if the guard's lease has ended. Ends after the timeout or with the lease,
   * whichever comes first. Throws only a SlackError.
   */
  async call<S extends z.ZodType>(
    method: string,
    args: Record<string, unknown>,
    options: SlackCallOptions<S>,
  ): Promise<z.infer<S>> {
    const { guard } = options;
    const { workspace } = this.installation;
    assertLeaseHeld(method, guard);
    const { gate, log, onCall, timeoutMs = CALL_TIMEOUT_MS } = this.#options;
    gate?.enter();
    const controller = new AbortController();
    const ms = Math.min(timeoutMs, guard?.remainingMs() ?? timeoutMs);
    const timer = setTimeout(() => controller.abort(new Error(`No response within ${ms} ms.`)), ms);
    const onLost = () => controller.abort(guard?.signal.reason);
    guard?.signal.addEventListener('abort', onLost, { once: true });
    const request: InFlightRequest = { method, guard, signal: controller.signal, isSent: false };
    const since = performance.now();
    let outcome = 'ok';
    try {
      const web = this.#webClientForToken();
      const response = await this.#inFlight.run(request, () => web.apiCall(method, args));
      gate?.accepted();
      const { result: parsed, leftOut } = countLeftOut(() => options.schema.safeParse(response));
      if (leftOut > 0)
        log.warn({ workspace, method, leftOut }, 'left out items of a response that cannot be read');
      if (parsed.success) {
        this.#lastSuccessAt = performance.now();
        return parsed.data;
      }
      throw unreadableResponse(method, parsed.error);
    } catch (error) {
      const failure = toSlackError(request, error);
      outcome = failure.code;
      if (failure instanceof SlackAuthError && failure.isInstallationDead) gate?.refused(failure);
      throw failure;
    } finally {
      onCall?.({ workspace, method, outcome, durationMs: performance.now() - since });
      clearTimeout(timer);
      guard?.signal.removeEventListener('abort', onLost);
    }
  }

  readonly #fetch: FetchFunction = async (url, init = {}) => {
    const request = this.#inFlight.getStore();
    if (request === undefined) throw new Error('A request was made outside SlackClient.call.');
    assertLeaseHeld(request.method, request.guard);
    request.isSent = true;
    const response = await sendText(url, { ...init, signal: request.signal }, keptConnections);
    request.status = response.status;
    request.retryAfterMs = parseRetryAfter(response.headers.get('retry-after'));
    return response;
  };
}

export interface Installation {
  /** The workspace's id (`T…`). */
  workspace: string;
  /** Read before each call, because a token may be rotated. A getter may throw SlackAuthError if there is none. */
  readonly token: string;
  /** The bot's user id (`U…`). */
  botUser: string;
  /** The bot's own id (`B…`), as messages carry it. */
  botId: string;
  /** The organisation's id (`E…`), if the workspace belongs to one. */
  enterprise?: string | undefined;
  /** The token belongs to the organisation: calls name their workspace. */
  isOrgToken?: boolean | undefined;
}

/** A client of which only the token is known. Without one, calls carry the app's own credentials. */
export function clientForToken(
  token: string | undefined,
  options: Omit<SlackClientOptions, 'installation'>,
): SlackClient {
  const installation = { workspace: '', token: token ?? '', botUser: '', botId: '' };
  return new SlackClient({ ...options, installation });
}

/** One request as Slack's packages make it; it ends after five seconds if they set no limit. */
async function sendText(
  url: string | URL,
  { body, headers, method, redirect, signal }: Parameters<FetchFunction>[1] = {},
  dispatcher = freshConnections,
) {
  if (typeof body !== 'string')
    throw new Error("Slack's packages send only forms and JSON here; use FileUploads for files.");
  return fetch(url, {
    body,
    dispatcher,
    signal: signal ?? AbortSignal.timeout(CALL_TIMEOUT_MS),
    ...(headers && { headers }),
    ...(method && { method }),
    ...(redirect && { redirect }),
  });
}

/** What all clients of Slack's packages have in common: a call is one request, and goes to this address alone. */
export function webClientOptions(slackApiUrl: string) {
  return {
    slackApiUrl,
    fetch: sendText,
    allowAbsoluteUrls: false,
    rejectRateLimitedCalls: true,
    retryConfig: { retries: 0 },
  };
}

/**
 * Passes the log lines of Slack's packages on to ours. Drops debug lines, which contain people's messages. `isQuiet`: warnings and
 * errors become debug lines, for clients whose failures we log ourselves.
 */
export function createSlackLogger(log: Logger, isQuiet = false): SlackLogger {
  const drop = () => undefined;
  const passOn =
    (level: 'debug' | 'warn' | 'error') =>
    (...parts: unknown[]) =>
      log[isQuiet ? 'debug' : level]({ parts: parts.map(String) }, 'Slack package');
  return {
    debug: drop,
    info: passOn('debug'),
    warn: passOn('warn'),
    error: passOn('error'),
    setLevel: drop,
    setName: drop,
    getLevel: () => LogLevel.INFO,
  };
}

/** Whether the bot's token may go to this address: Slack's hosts over https, and SLACK_API_URL if that is the sandbox. */
export function mayReceiveToken(url: string, slackApiUrl: string = SLACK_API_URL): boolean {
  if (!URL.canParse(url)) return false;
  const target = new URL(url);
  if (target.username !== '' || target.password !== '') return false;
  if (isSlackHost(target)) return true;
  const api = new URL(slackApiUrl);
  return !isSlackHost(api) && target.origin === api.origin;
}

function isSlackHost(url: URL): boolean {
  const standard = url.protocol === 'https:' && url.port === '';
  return standard && (url.hostname === 'slack.com' || url.hostname.endsWith('.slack.com'));
}
