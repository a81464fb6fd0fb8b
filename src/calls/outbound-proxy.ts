import { isIP, type LookupFunction, Socket } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import {
  Agent,
  type Dispatcher,
  EnvHttpProxyAgent,
  Pool,
  setGlobalDispatcher,
  fetch as undiciFetch,
  request as undiciRequest,
  WebSocket,
} from 'undici';
import { DEAD_CONNECTION_MS } from './retries-and-waits.ts';
import { MAX_HEAD_BYTES } from './unasked-continue.ts';

export { errors } from 'undici';

/**
 * HTTP/1.1: a call that its own signal ends does not end a dead connection of HTTP/2, which serves all calls. No unused
 * connection is kept until a call on another one counts as silent: what is then repeated gets one that works.
 */
const CONNECTION_OPTIONS = {
  allowH2: false,
  keepAliveMaxTimeout: DEAD_CONNECTION_MS - 1_000,
  maxHeaderSize: MAX_HEAD_BYTES,
};

/** As long as undici waits for a connection itself (ms). */
const CONNECT_TIMEOUT_MS = 10_000;

interface ProxySettings {
  HTTPS_PROXY?: string | undefined;
  NO_PROXY: string;
}

/** The proxy of this process, as undici takes it; undefined without one. */
let proxy: EnvHttpProxyAgent.Options | undefined;

/** Connections that serve many requests, one after the other: for calls that end soon, or that may be repeated. */
export let keptConnections = connections({});
/** A connection for each request, which can't have died before: for rare calls, and those that can't be repeated. */
export let freshConnections = connections({ pipelining: 0 });

/** Sends what leaves this process through tunnels of a proxy, except to the hosts of NO_PROXY. Called before any request. */
export function useProxy({ HTTPS_PROXY: url, NO_PROXY: noProxy }: ProxySettings): void {
  // A tunnel is opened by HTTP/1.1, also at a proxy that would prefer HTTP/2.
  const tunnel = { proxyTunnel: true, proxyTls: { allowH2: false } };
  proxy = url === undefined ? undefined : { httpProxy: url, httpsProxy: url, noProxy, ...tunnel };
  keptConnections = connections({});
  freshConnections = connections({ pipelining: 0 });
  setGlobalDispatcher(freshConnections);
}

/** undici's, over a fresh connection unless `dispatcher` says otherwise. */
export const fetch: typeof undiciFetch = (url, options) =>
  undiciFetch(url, { dispatcher: freshConnections, ...options });

/** undici's, over a fresh connection unless `dispatcher` says otherwise. */
export const request: typeof undiciRequest = (url, options) =>
  undiciRequest(url, { dispatcher: freshConnections, ...options });

/** A WebSocket that leaves as all requests do. */
export function openWebSocket(url: string): WebSocket {
  return new WebSocket(url, { dispatcher: freshConnections });
}

/** Connections as `useProxy` says; undici takes NO_PROXY except for its ranges of addresses. */
function connections(more: EnvHttpProxyAgent.Options): Dispatcher {
  const options = { clientFactory: connectionsToProxy, ...CONNECTION_OPTIONS, ...more };
  const direct = new Agent(options);
  if (proxy === undefined) return direct;
  const ranges = (proxy.noProxy ?? '')
    .split(/[,\s]+/)
    .filter(ipaddr.isValidCIDR)
    .map(ipaddr.parseCIDR);
  const isDirect = (host: string) =>
    ipaddr.isValid(host) && ipaddr.subnetMatch(ipaddr.process(host), { direct: ranges }, '') === 'direct';
  return new EnvHttpProxyAgent({ ...proxy, ...options }).compose((dispatch) => (request, handler) => {
    return isDirect(hostNameOf(new URL(request.origin ?? '')))
      ? direct.dispatch(request, handler)
      : dispatch(request, handler);
  });
}

/** The codes of an error and of what caused it, such as ECONNREFUSED, or PROXY_503 where a proxy opened no tunnel. */
export function failureCodes(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at instanceof Error && depth < 6; at = at.cause, depth += 1) {
    if ('code' in at && typeof at.code === 'string') codes.push(at.code);
    const [, proxyStatus] = /^Proxy response \((\d+)\)/.exec(at.message) ?? [];
    if (proxyStatus !== undefined) codes.push(`PROXY_${proxyStatus}`);
  }
  return codes;
}

/** The host name of an address of http or https, without the brackets of an IPv6 address. */
export function hostNameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** Connections for opening tunnels: a proxy that opens none that can be used counts as one that cannot be reached. */
function connectionsToProxy(origin: URL, options: object, timeoutMs = CONNECT_TIMEOUT_MS): Pool {
  const pool = new Pool(origin, { ...options, ...CONNECTION_OPTIONS, headersTimeout: timeoutMs });
  const open: OpenTunnel = pool.connect.bind(pool);
  return Object.assign(pool, { connect: failingIfUnused(open) });
}

type Tunnel = Pick<Dispatcher.ConnectData, 'socket' | 'statusCode'>;
type OpenTunnel = (request: Dispatcher.ConnectOptions) => Promise<Tunnel>;

/** So many tunnels to a host in a row may break before anything is sent through them. */
const MAX_UNUSED_TUNNELS = 3;

/**
 * Opens tunnels, but throws once the last few to a host broke unused: undici opens another one for the same request each
 * time, without end, and its signal does not stop that.
 */
export function failingIfUnused(open: OpenTunnel): OpenTunnel {
  const unused = new Map<string, number>();
  const count = (path: string) => unused.get(path) ?? 0;
  return async (request) => {
    const { path } = request;
    if (count(path) >= MAX_UNUSED_TUNNELS) {
      unused.delete(path);
      throw new Error('Proxy response (200), but the last tunnels broke before their use');
    }
    const tunnel = await open(request);
    const { socket, statusCode } = tunnel;
    if (statusCode !== 200 || !(socket instanceof Socket)) return tunnel;
    const { bytesWritten } = socket;
    socket.once('close', () => unused.set(path, socket.bytesWritten > bytesWritten ? 0 : count(path) + 1));
    return tunnel;
  };
}

/**
 * Connections to hosts whose addresses `lookup` accepts, or that are among `allowedHosts`: kept ones for GET, fresh ones
 * for what changes something. The proxy looks names up by itself: it is asked only for those that passed here.
 */
export function guardedConnections(
  allowedHosts: ReadonlySet<string>,
  lookup: LookupFunction,
  timeoutMs: number,
): { dispatcher: Dispatcher; destroy(): Promise<void> } {
  const connect = { timeout: timeoutMs, lookup };
  const clientFactory = (origin: URL, poolOptions: object) => {
    const pool = connectionsToProxy(origin, poolOptions, timeoutMs);
    const open = pool.connect.bind(pool);
    const openAllowed = async (request: Dispatcher.ConnectOptions) => {
      const host = hostNameOf(new URL(`http://${request.path}`));
      if (isIP(host) === 0 && !allowedHosts.has(host)) await promisify(lookup)(host, { all: true });
      return open(request);
    };
    return Object.assign(pool, { connect: openAllowed });
  };
  const options = { connect, connectTimeout: timeoutMs, clientFactory };
  const forReading = connections(options);
  const forWriting = connections({ ...options, pipelining: 0 });
  const dispatcher = forReading.compose((dispatch) => (request, handler) => {
    return request.method === 'GET' ? dispatch(request, handler) : forWriting.dispatch(request, handler);
  });
  return {
    dispatcher,
    destroy: async () => void (await Promise.all([forReading.destroy(), forWriting.destroy()])),
  };
}
