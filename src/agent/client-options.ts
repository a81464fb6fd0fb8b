import type { LookupFunction } from 'node:net';
import type { Logger } from 'pino';
import type { Dispatcher } from 'undici';
import type { RetryPolicy } from './call-retry.ts';
import type { ResponseLimits } from './response-limits.ts';
import type { ApiKeyGate, LeaseGuard } from './service-http.ts';
import type { ServiceOptions } from './service-options.ts';
import type { Page } from './service-schema.ts';
import type { UploadMemory } from './upload-memory.ts';

/** Milliseconds that the calls may take. */
export interface AgentTimeouts {
  readonly connectMs: number;
  /** One try of an ordinary call. */
  readonly requestMs: number;
  /** One try of List results, which may collect files first. */
  readonly resultsMs: number;
  /** One try of a finalize: the storage puts the parts together. */
  readonly finalizeMs: number;
  /** How long a send may be held open. */
  readonly holdMs: number;
  /** Without a byte in either direction during an upload or download. */
  readonly idleMs: number;
}

/** What holds where a client is given no others. */
export const DEFAULT_TIMEOUTS: AgentTimeouts = {
  connectMs: 10_000,
  requestMs: 30_000,
  resultsMs: 120_000,
  finalizeMs: 300_000,
  holdMs: 3_600_000,
  idleMs: 60_000,
};

/** One try of a call to the service, for figures. */
export interface CallAttempt {
  /** Method and path template, such as `GET /experimental/tasks/{task_id}`. */
  readonly call: string;
  /** Undefined where no answer came. */
  readonly status: number | undefined;
  /** 1 for the first. */
  readonly attempt: number;
  readonly ms: number;
}

/** The service's address and key, and what may be set beside them. */
export interface AgentClientOptions {
  /** With the version, for example `https://host/v1`. */
  readonly baseUrl: string;
  /** Read before each call, so that a key can be changed. */
  readonly apiKey: string;
  readonly serviceOptions?: ServiceOptions;
  readonly timeouts?: Partial<AgentTimeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Hosts (names without port) that may have a private address or plain http: the service's, and those of links. */
  readonly allowedHosts?: readonly string[];
  readonly log?: Logger;
  /** Hears of every try of a call when it is over. */
  readonly onTry?: ((made: CallAttempt) => void) | undefined;
  /** Awaited before each GET leaves: a place to wait while the service asks for a pause. */
  readonly beforeRead?: (signal: AbortSignal) => Promise<void>;
  /** The service asks for a pause of so many milliseconds. */
  readonly onRateLimited?: (pauseMs: number) => void;
  /** Stops calls with a key that was refused. */
  readonly gate?: ApiKeyGate;
  /** What all uploads in parts may hold at once; of its own (96 MiB) where left out. */
  readonly uploadMemory?: UploadMemory;
  /** What its JSON answers may take; for an operator's own service where left out. */
  readonly responseLimits?: ResponseLimits;
  /** How public names are looked up; the system's way, private addresses refused, where left out. */
  readonly lookup?: LookupFunction;
  /** Replaces the connection pools, for proxies and tests. */
  readonly dispatcher?: Dispatcher;
}

/** Options of any call. */
export interface AgentCallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** Options of a call that must not happen twice: it is made only while the guard holds. */
export interface GuardedCallOptions extends AgentCallOptions {
  readonly guard?: LeaseGuard | undefined;
}

/** A content block that we send. */
export type SentBlock = { readonly type: 'text'; readonly text: string } | Readonly<Record<string, unknown>>;

/** A task to be started. */
export interface NewTask {
  readonly projectId: string;
  readonly title: string;
  /** `standard`, `fast` or `max`; left out for the default. */
  readonly model?: string | undefined;
  /** At most 20. The shape is a guess: prefer an idle task and a send. */
  readonly initialMessages?: readonly { readonly role: string; readonly content: string }[] | undefined;
  /** Fail rather than use a fallback model; sent only if the dialect names the flag. */
  readonly noFallback?: boolean | undefined;
  /** Work without asking back; sent only if the dialect names the field. */
  readonly autoMode?: boolean | undefined;
  /** Make a plan first; sent only if the dialect names the field. */
  readonly planMode?: boolean | undefined;
}

/** A message to be sent to a task. */
export interface NewMessage {
  readonly content: string | readonly SentBlock[];
  /** Finalized files of the task's project. */
  readonly fileIds?: readonly string[] | undefined;
  /** Id or name. */
  readonly skill?: string | undefined;
  /** Sent only if the dialect names the field. */
  readonly model?: string | undefined;
}

/** A file to be uploaded into a project. */
export interface NewFile {
  readonly projectId: string;
  readonly filename: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
}

/** A page of a list whose cursor is a guess. */
export interface CursorPage<Item> extends Page<Item> {
  /** To be given as `after` for the next page; null at the end. */
  readonly cursor: string | null;
}

/** A part that the storage has, with its ETag exactly as received. */
export interface UploadedPart {
  readonly number: number;
  readonly etag: string;
}
