import { z } from 'zod';
import { decodeBody, readText, UNCOMPRESSED } from '../calls/content-coding.ts';
import { firstTextAt, parseJson } from '../calls/json.ts';
import { keptConnections, request } from '../calls/outbound-proxy.ts';
import { isTransientStatus, parseRetryAfter, sleepUnlessAborted } from '../calls/retries-and-waits.ts';
import { RegistryError } from './errors.ts';

/** Permits that all processes share, and pauses of them (ms); the limits of registries belong to no workspace. */
export interface RegistryGate {
  take(workspace: string, limit: string, rate: { perMinute: number; burst: number }): Promise<number>;
  pause(workspace: string, limit: string, pauseMs: number): Promise<void>;
}

export interface RegistryOptions {
  /** Where the registries are, without a slash at the end; `doi` tells which agency registered a DOI. */
  addresses: Readonly<Record<'crossref' | 'doi' | 'pubmed', string>>;
  /** The operator's contact, which registries ask for. */
  mailto: string | undefined;
  gate: RegistryGate;
}

/** The limits of registries, with the calls a second that they document: without a contact, and with one. */
const LIMITS = {
  // By Crossref's table since December 2025.
  'crossref list': { registry: 'crossref', perSecond: [1, 3] },
  'crossref single': { registry: 'crossref', perSecond: [5, 10] },
  // None is documented.
  'doi.org': { registry: 'doi', perSecond: [2, 2] },
  // NCBI's for an address without a key.
  pubmed: { registry: 'pubmed', perSecond: [3, 3] },
} as const;
type Limit = keyof typeof LIMITS;

/** What a registry answers until its caller's time is over; undefined for 404, whatever its body. Throws a RegistryError. */
export type AskRegistry = <Schema extends z.ZodType>(
  limit: Limit,
  path: string,
  schema: Schema,
  query?: Readonly<Record<string, string>>,
) => Promise<z.output<Schema> | undefined>;

const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** How long no call is made after a failure, and after a 403, by which Crossref blocks somebody by hand (ms). */
const PAUSE_MS = { failed: 30_000, blocked: 60 * 60_000 };
/** Nobody waits longer for a permit (ms). */
const MAX_GATE_WAIT_MS = 10_000;

const atLeastOne = z.coerce.number().min(1).max(100);

/** Calls registries, each within its limit, until a signal is aborted. */
export function registryCalls({ addresses, mailto, gate }: RegistryOptions) {
  /** The rates that registries last named, by limit: Crossref's table has changed before. */
  const namedRates = new Map<string, number>();
  const contact = {
    crossref: mailto === undefined ? {} : { mailto },
    doi: {},
    // NCBI asks for the name of the program, too.
    pubmed: { tool: 'taskthread', ...(mailto !== undefined && { email: mailto }) },
  };
  const headers = {
    ...UNCOMPRESSED,
    accept: 'application/json',
    'user-agent': mailto === undefined ? 'Taskthread' : `Taskthread (mailto:${mailto})`,
  };

  /** What failed is left alone for a while. */
  async function fail(limit: string, code: RegistryError['code'], pauseMs = 0): Promise<never> {
    if (pauseMs > 0) await gate.pause('', limit, pauseMs);
    throw new RegistryError(code, limit);
  }

  async function takePermit(limit: Limit, signal: AbortSignal): Promise<void> {
    const [without, withContact] = LIMITS[limit].perSecond;
    const perSecond = namedRates.get(limit) ?? (mailto === undefined ? without : withContact);
    for (;;) {
      const waitMs = await gate.take('', limit, { perMinute: 60 * perSecond, burst: 1 });
      if (waitMs === 0) return;
      if (waitMs > MAX_GATE_WAIT_MS || signal.aborted) return fail(limit, 'rate_limited');
      await sleepUnlessAborted(waitMs, signal);
    }
  }

  async function send(limit: Limit, url: URL, signal: AbortSignal) {
    const response = await request(url, { dispatcher: keptConnections, headers, signal });
    const header = (name: string) => [response.headers[name] ?? []].flat()[0];
    const calls = atLeastOne.safeParse(header('x-rate-limit-limit')).data;
    const seconds = atLeastOne.safeParse(header('x-rate-limit-interval')?.replace(/s$/, '')).data;
    if (calls !== undefined && seconds !== undefined) namedRates.set(limit, calls / seconds);
    const { text } = await readText(decodeBody(response.body, response.headers).body, MAX_BODY_BYTES);
    const retryAfterMs = parseRetryAfter(header('retry-after'), header('date'));
    const status = response.statusCode;
    const location = status >= 300 && status < 400 ? header('location') : undefined;
    const movedTo = location === undefined ? null : URL.parse(location, url.href);
    return { status, body: parseJson(text), retryAfterMs, movedTo };
  }

  async function sendOnce(limit: Limit, url: URL, signal: AbortSignal) {
    await takePermit(limit, signal);
    return send(limit, url, signal).catch(() =>
      // Our own time may be over, or the process stop: that is no fault of the registry.
      fail(limit, 'unavailable', signal.aborted ? 0 : PAUSE_MS.failed),
    );
  }

  return (signal: AbortSignal): AskRegistry =>
    async (limit, path, schema, query = {}) => {
      const { registry } = LIMITS[limit];
      const url = new URL(`${addresses[registry]}/${path}`);
      url.search = new URLSearchParams({ ...query, ...contact[registry] }).toString();
      const first = await sendOnce(limit, url, signal);
      // Since February 2025 Crossref answers so for a DOI that is an alias of another.
      const { movedTo } = first;
      const { status, body, retryAfterMs } =
        movedTo?.origin === url.origin ? await sendOnce(limit, movedTo, signal) : first;
      const isLimited = status === 429 || /rate limit/i.test(firstTextAt(body, ['error']) ?? '');
      if (isLimited || status === 403)
        return fail(limit, 'rate_limited', retryAfterMs || PAUSE_MS[isLimited ? 'failed' : 'blocked']);
      if (status === 404) return undefined;
      if (status >= 400 && !isTransientStatus(status)) return fail(limit, 'refused');
      if (status >= 300) return fail(limit, 'unavailable', Math.max(retryAfterMs ?? 0, PAUSE_MS.failed));
      const { data, success } = schema.safeParse(body);
      return success ? data : fail(limit, 'not_understood');
    };
}
