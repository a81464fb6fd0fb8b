import type { LookupFunction } from 'node:net';
import type { Logger } from 'pino';
import type { Dispatcher } from 'undici';
import type { CallGate } from '../calls/credential-gate.ts';
import type { LeaseGuard } from '../calls/lease.ts';
import type { RetryPolicy } from './call-retry.ts';
import type { ResponseLimits } from './response-limits.ts';
import type { ResponseMemoryShare } from './response-memory.ts';
import type { ServiceOptions } from './service-options.ts';
import type { Page } from './service-schema.ts';
import type { UploadMemory } from './upload-memory.ts';

/** Time limits in milliseconds. */
export const DEFAULT_TIMEOUTS = {
  connectMs: 10_000,
  /** One attempt of an ordinary call; some services take a minute. */
  requestMs: 70_000,
  /** A call that creates a project, a task or a file, which is never retried. */
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
  readonly log?: Logger;
  readonly onAttempt?: ((made: CallAttempt) => void) | undefined;
  /** Awaited before each GET: the place to wait for a read rate. */
  readonly beforeRead?: (signal: AbortSignal) => Promise<void>;
  /** Called when the service asks for a pause (ms). */
  readonly onRateLimited?: (pauseMs: number) => void;
  readonly gate?: CallGate;
  /** Memory for multipart uploads; 96 MiB of its own if left out. */
  readonly uploadMemory?: UploadMemory;
  /** Limits of JSON responses; those for the operator's own service if left out. */
  readonly responseLimits?: ResponseLimits;
  /** Memory for JSON responses that clients share. */
  readonly responseMemory?: ResponseMemoryShare;
  /** Resolves public host names; the system resolver without private addresses if left out. */
  readonly lookup?: LookupFunction;
  /** Replaces the connection pool of the calls, so that many clients can share one. */
  readonly dispatcher?: Dispatcher;
}

export interface AgentCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that must not happen twice: it is sent only while the lease lasts. */
export interface GuardedCallOptions extends AgentCallOptions {
  readonly guard?: LeaseGuard | undefined;
}

export interface NewTask {
  readonly projectId: string;
  readonly title: string;
  /** `standard`, `fast` or `max`; the default if left out. */
  readonly model?: string | undefined;
  /** Fail rather than use a fallback model; sent only if AGENT_DIALECT names the flag. */
  readonly noFallback?: boolean | undefined;
  /** Work without asking back; sent only if AGENT_DIALECT names the field. */
  readonly autoMode?: boolean | undefined;
  /** Make a plan first; sent only if AGENT_DIALECT names the field. */
  readonly planMode?: boolean | undefined;
}

export interface NewMessage {
  readonly content: string;
  /** Finalized files of the task's project. */
  readonly fileIds?: readonly string[] | undefined;
  /** Id or name. */
  readonly skill?: string | undefined;
}

export interface NewFile {
  readonly projectId: string;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
}

/** A page of a list as the service returned it. */
export interface CursorPage<Item> extends Page<Item> {
  /** Pass it as `after` for the next page; null at the end. */
  readonly cursor: string | null;
  /** Size of the response. */
  readonly bytes: number;
  /** How many items of its lists could not be read. */
  readonly leftOut: number;
}

/** A part that the storage has, with its ETag exactly as received. */
export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}
