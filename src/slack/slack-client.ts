import { type FetchFunction, LogLevel, type Logger as SlackLogger } from '@slack/web-api';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { CallGate } from '../calls/credential-gate.ts';
import { fetch, keptConnections } from '../calls/outbound-proxy.ts';
import { abortWith, type LeaseGuard, parseRetryAfter } from '../calls/retries-and-waits.ts';
import { Presence } from '../calls/shared-calls.ts';
import { successIn, toSlackError, unreadableResponse } from './error-mapping.ts';
import { assertLeaseHeld, isAccessNotGranted, SlackAuthError } from './errors.ts';
import { noteScopes } from './scopes.ts';

export const SLACK_API_URL = 'https://slack.com/api/';

/** Time limit of one call (ms): shorter than a lease, so that a lost lease is noticed in time. */
export const CALL_TIMEOUT_MS = 5_000;

export const anyResponseSchema = z.looseObject({});

/** How many items a schema has left out of the response's list, where it counts them and left out any. */
const leftOutSchema = z.object({ leftOut: z.number().positive() });

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
  /** The token's scopes, as Slack last said; none if it did not. */
  grantedScopes: readonly string[] = [];
  /** Whether Slack answers this token well. */
  readonly presence = new Presence(() => this.call('auth.test', {}, { schema: anyResponseSchema }));

  constructor(options: SlackClientOptions) {
    this.installation = options.installation;
    this.#options = options;
  }

  /**
   * Calls a method once. Sends nothing if the guard's lease has ended. Ends after the timeout or with the lease,
   * whichever comes first. Throws only a SlackError.
   */
  async call<S extends z.ZodType>(
    method: string,
    args: Record<string, unknown>,
    { schema, guard }: SlackCallOptions<S>,
  ): Promise<z.infer<S>> {
    const { workspace } = this.installation;
    const { gate, log, onCall, timeoutMs = CALL_TIMEOUT_MS } = this.#options;
    assertLeaseHeld(method, guard);
    gate?.enter();
    const ms = Math.min(timeoutMs, guard?.remainingMs() ?? timeoutMs);
    const ends = new AbortController();
    const unlink = abortWith(ends, guard?.signal);
    using _timeout = setTimeout(() => ends.abort(), Math.ceil(ms));
    const { signal } = ends;
    const since = performance.now();
    let outcome = 'ok';
    try {
      const response = await this.#post(method, args, signal);
      gate?.accepted();
      const parsed = schema.safeParse(response);
      if (!parsed.success) throw unreadableResponse(method, parsed.error);
      this.presence.show();
      const counted = leftOutSchema.safeParse(parsed.data);
      if (counted.success)
        log.warn({ workspace, method, ...counted.data }, 'left out items of a response that cannot be read');
      return parsed.data;
    } catch (error) {
      const failure = toSlackError({ method, guard, signal }, error);
      outcome = failure.code;
      // The gate is that of all workspaces of an organisation.
      const isDead = failure instanceof SlackAuthError && failure.isInstallationDead;
      if (isDead && !isAccessNotGranted(failure)) gate?.refused(failure);
      throw failure;
    } finally {
      unlink();
      onCall?.({ workspace, method, outcome, durationMs: performance.now() - since });
    }
  }

  /** Sends a form with the token; returns Slack's `ok:true`, and throws the SlackError for any other response. */
  async #post(method: string, args: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const { installation } = this;
    const { log, slackApiUrl = SLACK_API_URL } = this.#options;
    const { workspace, isOrgToken, token } = installation;
    const response = await fetch(`${slackApiUrl}${method}`, {
      method: 'POST',
      body: formOf(isOrgToken === true ? { team_id: workspace, ...args } : args),
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'taskthread',
        ...(token !== '' && { authorization: `Bearer ${token}` }),
      },
      redirect: 'error',
      signal,
      dispatcher: keptConnections,
    });
    const { status, headers } = response;
    this.grantedScopes = headers.get('x-oauth-scopes')?.split(/\s*,\s*/) ?? [];
    noteScopes(installation, log, this.grantedScopes);
    const text = response.text();
    const body = response.ok ? await text : await text.catch(() => '');
    const retryAfterMs = parseRetryAfter(headers.get('retry-after'), headers.get('date'));
    return successIn(body, { method, status, retryAfterMs });
  }
}

/** Arguments as Slack takes them: texts as they are, all else as JSON. */
function formOf(args: Record<string, unknown>): string {
  const form = new URLSearchParams();
  for (const [name, value] of Object.entries(args)) {
    if (value === undefined || value === null) continue;
    form.set(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form.toString();
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
  /** The token belongs to the organisation: calls name their workspace. */
  isOrgToken?: boolean | undefined;
  /** The scopes of the manifest that the token lacks, as far as Slack has said. */
  missingScopes?: readonly string[];
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
async function sendText(url: string | URL, options: Parameters<FetchFunction>[1] = {}) {
  const { body, signal = AbortSignal.timeout(CALL_TIMEOUT_MS) } = options;
  if (typeof body !== 'string')
    throw new Error("Slack's packages send only forms and JSON here; use FileUploads for files.");
  return fetch(url, { ...options, body, signal });
}

/** What Slack's packages throw where Slack refuses a call: its code. */
export const packageErrorSchema = z.looseObject({ data: z.looseObject({ error: z.string() }) });

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
