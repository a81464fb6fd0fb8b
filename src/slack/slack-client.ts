import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type FetchFunction,
  LogLevel,
  type Logger as SlackLogger,
  WebAPIHTTPError,
  WebAPIPlatformError,
  WebAPIRequestError,
  WebClient,
} from '@slack/web-api';
import type { Logger } from 'pino';
import { type Dispatcher, fetch } from 'undici';
import { z } from 'zod';
import { DEFAULT_RETRY_AFTER_MS, errorForCode } from './error-codes.ts';
import {
  SlackAuthError,
  SlackError,
  SlackLeaseError,
  SlackRateLimitError,
  SlackRefusedError,
  SlackUnavailableError,
} from './errors.ts';
import { assertLeaseHeld, type LeaseGuard } from './lease-guard.ts';

/** Where Slack's Web API is. */
export const SLACK_API_URL = 'https://slack.com/api/';

/** The longest that one call may take, in ms: shorter than a lease, so that its end is seen in time. */
export const CALL_TIMEOUT_MS = 5_000;

/** An installation: whose token it is. */
export interface Installation {
  /** The workspace's id (`T…`). */
  workspace: string;
  /** Read before each call: a token that is rotated changes. May throw Unauthorized where there is none any more. */
  readonly token: string;
  /** The bot's user id (`U…`). */
  botUser: string;
  /** The bot's own id (`B…`), as messages carry it. */
  botId: string;
  /** The organisation's id (`E…`), where the workspace belongs to one. */
  enterprise?: string | undefined;
  /** The token is the organisation's: calls say which workspace they mean. */
  isOrgToken?: boolean | undefined;
}

/** An installation of which only the token is known, or not even that: calls then carry the app's own credentials. */
export function tokenOnlyInstallation(token = ''): Installation {
  return { workspace: '', token, botUser: '', botId: '' };
}

/** Stops calls with a token that was refused, as this folder sees it. */
export interface TokenGate {
  /** Before each call; throws the refusal where it must not be made. */
  enter(): void;
  refused(error: SlackAuthError): void;
  accepted(): void;
}

/** What became of one call, for figures. */
export interface SlackCallRecord {
  workspace: string;
  method: string;
  /** `ok`, or the code of the error. */
  outcome: string;
  durationMs: number;
}

/** For whom a client calls, and how. */
export interface SlackClientOptions {
  installation: Installation;
  log: Logger;
  gate?: TokenGate | undefined;
  /** Another address for tests and the sandbox. */
  slackApiUrl?: string | undefined;
  timeoutMs?: number | undefined;
  /** Hears of every call that was made, when it is over. */
  onCall?: ((call: SlackCallRecord) => void) | undefined;
  /** For a proxy or TLS of your own. */
  dispatcher?: Dispatcher | undefined;
}

/** How one call is made. */
export interface SlackCallOptions<S extends z.ZodType> {
  /** What we read of the answer; `z.looseObject`. */
  schema: S;
  guard?: LeaseGuard | undefined;
}

/** One request on its way, as the fetch below sees it. */
interface InFlightRequest {
  method: string;
  guard: LeaseGuard | undefined;
  signal: AbortSignal;
  isSent: boolean;
  status?: number;
  retryAfterMs?: number;
}

/** Errors of the socket that come before a byte of the request was written. */
const NEVER_SENT_CODES =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_.*|CERT_.*|.*SELF_SIGNED.*|UNABLE_TO_.*)$/;

const platformErrorSchema = z.looseObject({ error: z.string(), needed: z.string().optional() });
const socketErrorSchema = z.looseObject({ code: z.string() });

/** Slack's Web API for one installation: one call, one request, one typed error. */
export class SlackClient {
  readonly installation: Installation;
  readonly #options: SlackClientOptions;
  #webClient: { token: string; client: WebClient } | undefined;
  readonly #timeoutMs: number;
  readonly #gate: TokenGate | undefined;
  // WebClient's time-out is per client, ours per call. Its queue starts a request in the caller's own
  // async context as long as it never waits, hence the endless concurrency.
  readonly #inFlight = new AsyncLocalStorage<InFlightRequest>();
  readonly #dispatcher: Dispatcher | undefined;
  readonly #onCall: SlackClientOptions['onCall'];

  constructor(options: SlackClientOptions) {
    this.#onCall = options.onCall;
    this.installation = options.installation;
    this.#timeoutMs = options.timeoutMs ?? CALL_TIMEOUT_MS;
    this.#dispatcher = options.dispatcher;
    this.#gate = options.gate;
    this.#options = options;
  }

  get workspace(): string {
    return this.installation.workspace;
  }

  /** The library's client for the token as it is now. */
  #webClientForToken(): WebClient {
    const { installation, slackApiUrl, log } = this.#options;
    const { token } = installation;
    if (this.#webClient?.token !== token) {
      const client = new WebClient(token, {
        slackApiUrl: slackApiUrl ?? SLACK_API_URL,
        allowAbsoluteUrls: false,
        rejectRateLimitedCalls: true,
        retryConfig: { retries: 0 },
        maxRequestConcurrency: Number.POSITIVE_INFINITY,
        logger: quietLogger(log),
        fetch: this.#fetch,
        ...(installation.isOrgToken === true ? { teamId: installation.workspace } : {}),
      });
      this.#webClient = { token, client };
    }
    return this.#webClient.client;
  }

  /**
   * Calls a method once. Never sent when the guard's lease has ended; cut off after the time-out or the
   * rest of the lease, whichever is shorter. Throws a SlackError and nothing else.
   */
  async call<S extends z.ZodType>(
    method: string,
    args: Record<string, unknown>,
    options: SlackCallOptions<S>,
  ): Promise<z.infer<S>> {
    const { guard } = options;
    assertLeaseHeld(method, guard);
    this.#gate?.enter();
    const controller = new AbortController();
    const ms = Math.min(this.#timeoutMs, guard?.remainingMs() ?? this.#timeoutMs);
    const timer = setTimeout(() => controller.abort(new Error(`No answer within ${ms} ms.`)), ms);
    const onLost = () => controller.abort(guard?.signal.reason);
    guard?.signal.addEventListener('abort', onLost, { once: true });
    const flight: InFlightRequest = { method, guard, signal: controller.signal, isSent: false };
    const since = performance.now();
    let outcome = 'ok';
    try {
      const web = this.#webClientForToken();
      const answer = await this.#inFlight.run(flight, () => web.apiCall(method, args));
      this.#gate?.accepted();
      const read = options.schema.safeParse(answer);
      if (read.success) return read.data;
      throw unreadableAnswer(method, read.error);
    } catch (error) {
      const failure = toSlackError(flight, error);
      outcome = failure.code;
      if (failure instanceof SlackAuthError && failure.isInstallationDead) this.#gate?.refused(failure);
      throw failure;
    } finally {
      this.#onCall?.({ workspace: this.workspace, method, outcome, durationMs: performance.now() - since });
      clearTimeout(timer);
      guard?.signal.removeEventListener('abort', onLost);
    }
  }

  readonly #fetch: FetchFunction = async (url, init = {}) => {
    const flight = this.#inFlight.getStore();
    if (flight === undefined) throw new Error('A request was made outside of SlackClient.call.');
    assertLeaseHeld(flight.method, flight.guard);
    const { body, headers, method, redirect } = init;
    if (typeof body !== 'string') throw new Error('Only form bodies are sent this way; see uploads.ts.');
    flight.isSent = true;
    const response = await fetch(url, {
      body,
      signal: flight.signal,
      ...(headers && { headers }),
      ...(method && { method }),
      ...(redirect && { redirect }),
      ...(this.#dispatcher && { dispatcher: this.#dispatcher }),
    });
    flight.status = response.status;
    const seconds = Number.parseInt(response.headers.get('retry-after') ?? '', 10);
    if (seconds >= 0) flight.retryAfterMs = seconds * 1000;
    return response;
  };
}

function unreadableAnswer(method: string, cause: unknown): SlackUnavailableError {
  return new SlackUnavailableError(
    { method, slackCode: 'unreadable_answer', outcome: 'unknown', cause },
    'Slack answered something that we cannot read; look up what came of the call.',
  );
}

function toSlackError(flight: InFlightRequest, error: unknown): SlackError {
  const { method } = flight;
  if (error instanceof SlackError) return error;
  if (error instanceof WebAPIRequestError && error.original instanceof SlackError) return error.original;
  if (flight.status === 429) {
    return new SlackRateLimitError(
      { method, slackCode: 'ratelimited', cause: error },
      flight.retryAfterMs ?? DEFAULT_RETRY_AFTER_MS,
    );
  }
  if (error instanceof WebAPIPlatformError) return fromPlatformError(flight, error);
  if (error instanceof WebAPIHTTPError) return fromHttpStatus(method, error);
  return fromNetworkError(flight, error);
}

function fromPlatformError(flight: InFlightRequest, cause: WebAPIPlatformError): SlackError {
  const data = platformErrorSchema.safeParse(cause.data);
  // WebClient puts a body that is no JSON, such as a proxy's page, where the code should be.
  if (!data.success || !/^\w{1,100}$/.test(data.data.error)) return unreadableAnswer(flight.method, cause);
  const { error, needed } = data.data;
  return errorForCode(flight.method, error, {
    retryAfterMs: flight.retryAfterMs,
    neededScopes: needed,
    cause,
  });
}

function fromHttpStatus(method: string, cause: WebAPIHTTPError): SlackError {
  const status = cause.statusCode;
  const slackCode = `http_${status}`;
  if (status >= 500 || status === 408) {
    return new SlackUnavailableError(
      { method, slackCode, outcome: 'unknown', cause },
      'Slack or a proxy failed; look up what came of the call before you repeat it.',
    );
  }
  return new SlackRefusedError(
    { method, slackCode, outcome: 'none', cause },
    'Check SLACK_API_URL and any proxy on the way.',
  );
}

function fromNetworkError(flight: InFlightRequest, cause: unknown): SlackError {
  const { method } = flight;
  const outcome = flight.isSent && !wasNeverSent(cause) ? 'unknown' : 'none';
  if (flight.guard?.signal.aborted) return new SlackLeaseError({ method, outcome, cause });
  if (flight.signal.aborted) {
    return new SlackUnavailableError(
      { method, slackCode: 'timed_out', outcome, cause },
      'Slack did not answer in time; look up what came of the call before you repeat it.',
    );
  }
  if (flight.status === 200) return unreadableAnswer(method, cause);
  return new SlackUnavailableError(
    { method, slackCode: 'network', outcome, cause },
    'The connection to Slack failed; check the network, SLACK_API_URL and any proxy.',
  );
}

function wasNeverSent(error: unknown): boolean {
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    const { data } = socketErrorSchema.safeParse(at);
    if (data !== undefined && NEVER_SENT_CODES.test(data.code)) return true;
  }
  return false;
}

/** WebClient logs arguments, which are people's words, at debug: those are dropped. */
function quietLogger(log: Logger): SlackLogger {
  const drop = () => undefined;
  const note = (...parts: unknown[]) => log.debug({ parts: parts.map(String) }, 'Slack client');
  return {
    debug: drop,
    info: drop,
    warn: note,
    error: note,
    setLevel: drop,
    setName: drop,
    getLevel: () => LogLevel.WARN,
  };
}
