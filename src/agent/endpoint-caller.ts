import type { z } from 'zod';
import { DEFAULT_RETRY_POLICY } from './call-retry.ts';
import {
  type AgentCallOptions,
  type AgentClientOptions,
  type AgentTimeouts,
  DEFAULT_TIMEOUTS,
  type GuardedCallOptions,
} from './client-options.ts';
import { hostNameOf, isPrivateAddress, publicLookup } from './network-address.ts';
import { OPERATOR_RESPONSE_LIMITS, ResponseReader } from './response-limits.ts';
import { ServiceHttp } from './service-http.ts';
import { DEFAULT_SERVICE_OPTIONS, type ServiceOptions } from './service-options.ts';
import { statusSchema, type TaskStatus } from './service-schema.ts';
import { SignedLinks } from './signed-links.ts';
import { OPERATOR_UPLOAD_MEMORY_BYTES, SharedUploadMemory, type UploadMemory } from './upload-memory.ts';

/** The kinds of calls that the endpoints are made of, and what they share. */
export class EndpointCaller {
  readonly serviceOptions: ServiceOptions;
  readonly http: ServiceHttp;
  readonly links: SignedLinks;
  readonly timeouts: AgentTimeouts;
  readonly uploadMemory: UploadMemory;
  readonly responseReader: ResponseReader;

  /** Throws TypeError where the address or the key cannot be used. */
  constructor(options: AgentClientOptions) {
    const allowedHosts = new Set((options.allowedHosts ?? []).map((host) => host.toLowerCase()));
    const baseUrl = parseBaseUrl(options.baseUrl, allowedHosts);
    if (!/^[\x21-\x7e]+$/.test(options.apiKey)) {
      throw new TypeError('AGENT_API_KEY must be visible ASCII characters without spaces.');
    }
    this.serviceOptions = options.serviceOptions ?? DEFAULT_SERVICE_OPTIONS;
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...options.timeouts };
    this.uploadMemory = options.uploadMemory ?? new SharedUploadMemory(OPERATOR_UPLOAD_MEMORY_BYTES);
    this.responseReader = new ResponseReader(options.responseLimits ?? OPERATOR_RESPONSE_LIMITS);
    const { connectMs, idleMs } = this.timeouts;
    const retry = { ...DEFAULT_RETRY_POLICY, ...options.retry };
    const lookup = options.lookup ?? publicLookup;
    const shared = { connectMs, idleMs, retry, dispatcher: options.dispatcher };
    const { log, onTry, beforeRead, onRateLimited, gate } = options;
    const key = () => options.apiKey;
    const bound = { baseUrl, key, dialect: this.serviceOptions, log, onTry, beforeRead, onRateLimited, gate };
    const ownLookup = allowedHosts.has(hostNameOf(baseUrl)) ? undefined : lookup;
    this.http = new ServiceHttp({
      ...shared,
      ...bound,
      responseReader: this.responseReader,
      lookup: ownLookup,
    });
    this.links = new SignedLinks({ ...shared, allowedHosts, lookup });
  }

  /** Ends all connections; calls under way fail. */
  async close(): Promise<void> {
    await Promise.all([this.http.close(), this.links.close()]);
  }

  /** What an ordinary call is bound by. */
  defaults({ signal }: AgentCallOptions) {
    return { timeoutMs: this.timeouts.requestMs, signal };
  }

  /** Reads one thing. */
  async get<Schema extends z.ZodType>(
    path: string,
    ids: Record<string, string>,
    schema: Schema,
    options: AgentCallOptions,
  ): Promise<z.output<Schema>> {
    const call = { method: 'GET', path, ids, repeat: true, ...this.defaults(options) } as const;
    return (await this.http.requestJson(call, schema)).value;
  }

  /** Makes one thing: never repeated, and only within the lease. */
  async create<Schema extends z.ZodType>(
    path: string,
    body: unknown,
    schema: Schema,
    options: GuardedCallOptions,
  ): Promise<z.output<Schema>> {
    const call = { method: 'POST', path, body, repeat: false, withinLease: true } as const;
    return (await this.http.requestJson({ ...call, guard: options.guard, ...this.defaults(options) }, schema))
      .value;
  }

  /** Stops a task or a reply. */
  async cancel(
    path: string,
    ids: Record<string, string>,
    options: AgentCallOptions & { readonly force?: boolean; readonly repeat: boolean },
  ): Promise<TaskStatus> {
    const body = options.force === true ? { force: true } : undefined;
    const { repeat } = options;
    const call = { method: 'POST', path, ids, body, repeat, ...this.defaults(options) } as const;
    return (await this.http.requestJson(call, statusSchema)).value;
  }
}

function parseBaseUrl(text: string, allowedHosts: ReadonlySet<string>): URL {
  const url = URL.parse(text);
  const plain = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!plain || url.search !== '' || url.hash !== '') {
    throw new TypeError('AGENT_BASE_URL must be an http(s) address without user, query or fragment.');
  }
  const host = hostNameOf(url);
  if (allowedHosts.has(host)) return url;
  if (isPrivateAddress(host) || url.protocol !== 'https:') {
    throw new TypeError(
      `AGENT_BASE_URL must be https at a public address. If ${host} is meant, name it in PRIVATE_HOSTS.`,
    );
  }
  return url;
}
