import { z } from 'zod';
import { decodeBody, UNCOMPRESSED } from '../calls/content-coding.ts';
import { firstTextAt, parseJson } from '../calls/json.ts';
import { keptConnections, request } from '../calls/outbound-proxy.ts';
import { parseRetryAfter, sleepUnlessAborted } from '../calls/retries-and-waits.ts';
import { RegistryError } from './errors.ts';
import type { Finding, SourceId } from './source-check.ts';

/** Permits that all processes share, and pauses of them (ms); the limits of registries belong to no workspace. */
export interface RegistryGate {
  take(workspace: string, limit: string, rate: { perMinute: number; burst: number }): Promise<number>;
  pause(workspace: string, limit: string, pauseMs: number): Promise<void>;
}

/** Where the registries are, without a slash at the end. */
export interface RegistryAddresses {
  crossref: string;
  /** Tells which agency registered a DOI. */
  doi: string;
  pubmed: string;
}

/** What a search works with; `found` gets what is found, as it comes. */
export interface RegistrySearch {
  calls: RegistryCalls;
  addresses: RegistryAddresses;
  /** The operator's contact. */
  mailto: string | undefined;
  signal: AbortSignal;
  found: (id: SourceId, finding: Finding) => void;
}

/** A limit of a registry, and its documented rate. */
export interface RegistryLimit {
  name: string;
  perSecond: number;
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** How long no call is made after a failure, and after a 403, by which Crossref blocks somebody by hand (ms). */
const PAUSE_MS = { failed: 30_000, blocked: 60 * 60_000 };
/** Nobody waits longer for a permit (ms). */
const MAX_GATE_WAIT_MS = 10_000;

const positive = z.coerce.number().positive().max(100);

/** Calls to registries, each within its limit. */
export class RegistryCalls {
  readonly #gate: RegistryGate;
  readonly #userAgent: string;
  /** The rates that registries last named, by limit: Crossref's table has changed before. */
  readonly #perSecond = new Map<string, number>();

  constructor(gate: RegistryGate, mailto: string | undefined) {
    this.#gate = gate;
    this.#userAgent = mailto === undefined ? 'Taskthread' : `Taskthread (mailto:${mailto})`;
  }

  /** What a registry answers; undefined for 404, whatever its body. Throws a RegistryError. */
  async get<Schema extends z.ZodType>(
    limit: RegistryLimit,
    url: URL,
    schema: Schema,
    signal: AbortSignal,
  ): Promise<z.output<Schema> | undefined> {
    await this.#takePermit(limit, signal);
    const { status, body, retryAfterMs } = await this.#ask(limit, url, signal).catch((cause: unknown) =>
      // Our own time may be over, or the process stop: that is no fault of the registry.
      this.#fail(limit, 'unavailable', signal.aborted ? 0 : PAUSE_MS.failed, cause),
    );
    const isLimited = status === 429 || /rate limit/i.test(firstTextAt(body, ['error']) ?? '');
    if (isLimited || status === 403)
      return this.#fail(limit, 'rate_limited', retryAfterMs ?? PAUSE_MS[isLimited ? 'failed' : 'blocked']);
    if (status >= 500) return this.#fail(limit, 'unavailable', PAUSE_MS.failed);
    if (status === 404) return undefined;
    if (status !== 200) return this.#fail(limit, 'refused');
    const { data, success } = schema.safeParse(body);
    return success ? data : this.#fail(limit, 'not_understood');
  }

  /** What failed is left alone for a while. */
  async #fail(
    { name }: RegistryLimit,
    code: RegistryError['code'],
    pauseMs = 0,
    cause?: unknown,
  ): Promise<never> {
    if (pauseMs > 0) await this.#gate.pause('', name, pauseMs);
    throw new RegistryError(code, name, cause);
  }

  async #takePermit(limit: RegistryLimit, signal: AbortSignal): Promise<void> {
    const perMinute = 60 * (this.#perSecond.get(limit.name) ?? limit.perSecond);
    for (;;) {
      const waitMs = await this.#gate.take('', limit.name, { perMinute, burst: 1 });
      if (waitMs === 0) return;
      if (waitMs > MAX_GATE_WAIT_MS || signal.aborted) return this.#fail(limit, 'rate_limited');
      await sleepUnlessAborted(waitMs, signal);
    }
  }

  async #ask({ name }: RegistryLimit, url: URL, signal: AbortSignal) {
    const asked = { ...UNCOMPRESSED, accept: 'application/json', 'user-agent': this.#userAgent };
    const options = { dispatcher: keptConnections, headers: asked, signal };
    const { statusCode: status, headers, body } = await request(url, options);
    const header = (one: string) => [headers[one] ?? []].flat()[0];
    const calls = positive.safeParse(header('x-rate-limit-limit')).data;
    const seconds = positive.safeParse(header('x-rate-limit-interval')?.replace(/s$/, '')).data;
    if (calls !== undefined && seconds !== undefined) this.#perSecond.set(name, calls / seconds);
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of decodeBody(body, headers).body) {
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) break;
      chunks.push(chunk);
    }
    const retryAfterMs = parseRetryAfter(header('retry-after'));
    return { status, retryAfterMs, body: parseJson(Buffer.concat(chunks).toString()) };
  }
}
