import type { z } from 'zod';
import { bareHost, isPrivateAddress, publicLookup } from './address.ts';
import { AnswerReader, operatorBounds } from './answer-bounds.ts';
import { type Dialect, defaultDialect } from './dialect.ts';
import { Http } from './http.ts';
import { Links } from './links.ts';
import {
  type AgentClientOptions,
  type AgentTimeouts,
  type CallOptions,
  defaultTimeouts,
  type GuardedOptions,
} from './options.ts';
import { PartMemory, partMemoryBytes, type UploadMemory } from './part-memory.ts';
import { defaultRetry } from './retry.ts';
import { statusSchema, type TaskStatus } from './schema.ts';

/** The kinds of calls that the endpoints are made of, and what they share. */
export class Caller {
  readonly dialect: Dialect;
  readonly http: Http;
  readonly links: Links;
  readonly timeouts: AgentTimeouts;
  readonly partMemory: UploadMemory;
  readonly answers: AnswerReader;

  /** Throws TypeError where the address or the key cannot be used. */
  constructor(options: AgentClientOptions) {
    const allowedHosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
    const baseUrl = baseAddress(options.baseUrl, allowedHosts);
    if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
      throw new TypeError('AGENT_API_KEY must be visible ASCII characters without spaces.');
    }
    this.dialect = options.dialect ?? defaultDialect;
    this.timeouts = { ...defaultTimeouts, ...options.timeouts };
    this.partMemory = options.partMemory ?? new PartMemory(partMemoryBytes);
    this.answers = new AnswerReader(options.bounds ?? operatorBounds);
    const { connectMs, idleMs } = this.timeouts;
    const retry = { ...defaultRetry, ...options.retry };
    const lookup = options.lookup ?? publicLookup;
    const shared = { connectMs, idleMs, retry, dispatcher: options.dispatcher };
    const { log, onTry, beforeRead, onRateLimited, gate } = options;
    const key = () => options.apiKey;
    const bound = { baseUrl, key, dialect: this.dialect, log, onTry, beforeRead, onRateLimited, gate };
    const ownLookup = allowedHosts.has(bareHost(baseUrl)) ? undefined : lookup;
    this.http = new Http({ ...shared, ...bound, answers: this.answers, lookup: ownLookup });
    this.links = new Links({ ...shared, allowedHosts, lookup });
  }

  /** Ends all connections; calls under way fail. */
  async close(): Promise<void> {
    await Promise.all([this.http.close(), this.links.close()]);
  }

  /** What an ordinary call is bound by. */
  usual({ signal }: CallOptions) {
    return { timeoutMs: this.timeouts.requestMs, signal };
  }

  /** Reads one thing. */
  async get<Schema extends z.ZodType>(
    path: string,
    ids: Record<string, string>,
    schema: Schema,
    options: CallOptions,
  ): Promise<z.output<Schema>> {
    const call = { method: 'GET', path, ids, repeat: true, ...this.usual(options) } as const;
    return (await this.http.json(call, schema)).value;
  }

  /** Makes one thing: never repeated, and only within the lease. */
  async create<Schema extends z.ZodType>(
    path: string,
    body: unknown,
    schema: Schema,
    options: GuardedOptions,
  ): Promise<z.output<Schema>> {
    const call = { method: 'POST', path, body, repeat: false, withinLease: true } as const;
    return (await this.http.json({ ...call, guard: options.guard, ...this.usual(options) }, schema)).value;
  }

  /** Stops a task or a reply. */
  async cancel(
    path: string,
    ids: Record<string, string>,
    options: CallOptions & { readonly force?: boolean; readonly repeat: boolean },
  ): Promise<TaskStatus> {
    const body = options.force === true ? { force: true } : undefined;
    const { repeat } = options;
    const call = { method: 'POST', path, ids, body, repeat, ...this.usual(options) } as const;
    return (await this.http.json(call, statusSchema)).value;
  }
}

function baseAddress(text: string, allowedHosts: ReadonlySet<string>): URL {
  const url = URL.parse(text);
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!plain || url.search !== '' || url.hash !== '') {
    throw new TypeError('AGENT_BASE_URL must be an http(s) address without user, query or fragment.');
  }
  const host = bareHost(url);
  if (allowedHosts.has(host)) return url;
  if (isPrivateAddress(host) || url.protocol !== 'https:') {
    throw new TypeError(
      `AGENT_BASE_URL must be https at a public address. If ${host} is meant, name it in PRIVATE_HOSTS.`,
    );
  }
  return url;
}
