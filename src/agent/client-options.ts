import type { LookupFunction } from 'node:net';
import type { Logger } from 'pino';
import type { Dispatcher } from 'undici';
import type { CallGate } from '../calls/credential-gate.ts';
import type { LeaseGuard } from '../calls/retries-and-waits.ts';
import type { ResponseLimits, ResponseMemoryShare } from './response-limits.ts';
import type { RetryPolicy } from './retries.ts';
import type { ServiceOptions } from './service-options.ts';
import type { Page } from './service-schema.ts';
import type { UploadMemory } from './upload-parts.ts';

/** Time limits in milliseconds. */
export const DEFAULT_TIMEOUTS = {
  connectMs: 10_000,
  /** One attempt of an ordinary call; some services take a minute. */
  requestMs: 70_000,
  /** A call that creates a project, a task or a file. */
  createMs: 120_000,
  /** One attempt of List results, which may collect files first. */
  resultsMs: 120_000,
  /** One attempt of finalize, during which the storage joins the parts. */
  finalizeMs: 300_000,
  /** How long the service may hold a send open. */
  sendMs: 3_600_000,
  /** Without a byte in either direction during an upload or download. */
  idleMs: 60_000,
};

export type AgentTimeouts = Readonly<typeof DEFAULT_TIMEOUTS>;

export interface CallAttempt {
  /** Method and path template, such as `GET /experimental/tasks/{task_id}`. */
  readonly call: string;
  /** Undefined if there was no response. */
  readonly status: number | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  readonly durationMs: number;
}

export interface AgentClientOptions {
  /** With the version, for example `https://host/v1`. */
  readonly baseUrl: string;
  /** Read before each call, so that a getter can return a new key. */
  readonly apiKey: string;
  readonly serviceOptions?: ServiceOptions;
  readonly timeouts?: Partial<AgentTimeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Hosts (names without port) that may have a private address or plain http: the service's, and those of links. */
  readonly allowedHosts?: readonly string[];
  readonly log?: Logger | undefined;
  readonly onAttempt?: ((made: CallAttempt) => void) | undefined;
  /** Awaited before each GET: the place to wait for a read rate. */
  readonly beforeRead?: (signal: AbortSignal) => Promise<void>;
  /** Called when the service asks for a pause (ms). */
  readonly onRateLimited?: ((pauseMs: number) => void) | undefined;
  readonly gate?: CallGate;
  /** Memory for multipart uploads; 96 MiB of its own if left out. */
  readonly uploadMemory?: UploadMemory;
  /** Limits of JSON responses; those for the operator's own service if left out. */
  readonly responseLimits?: ResponseLimits;
  /** Memory for JSON responses that clients share; one of its own if left out. */
  readonly responseMemory?: ResponseMemoryShare;
  /** Resolves public host names; the system resolver without private addresses if left out. */
  readonly lookup?: LookupFunction;
  /** Replaces the connection pool of the calls, so that many clients can share one. */
  readonly dispatcher?: Dispatcher;
}

/** What calls to the service and to its links share. */
export interface Transport {
  readonly dispatcher: Dispatcher;
  readonly timeouts: AgentTimeouts;
  readonly retry: RetryPolicy;
  readonly serviceOptions: ServiceOptions;
  readonly log?: Logger | undefined;
}

export interface AgentCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that must not happen twice: it is sent only while the lease lasts. */
export interface GuardedCallOptions extends AgentCallOptions {
  readonly guard?: LeaseGuard | undefined;
}

/** A page of a list as the service returned it. */
export interface CursorPage<Item> extends Page<Item> {
  /** Pass it as `after` for the next page; null at the end. */
  readonly cursor: string | null;
  /** Size of the response. */
  readonly bytes: number;
}
