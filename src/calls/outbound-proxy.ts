import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import ipaddr from 'ipaddr.js';
import {
  Agent,
  type Dispatcher,
  EnvHttpProxyAgent,
  getGlobalDispatcher,
  Pool,
  setGlobalDispatcher,
} from 'undici';
import { MAX_HEAD_BYTES } from './unasked-continue.ts';

interface ProxySettings {
  HTTPS_PROXY?: string | undefined;
  NO_PROXY: string;
}

/** The proxy of this process, as undici takes it; undefined without one. */
let proxy: { httpProxy: string; httpsProxy: string; noProxy: string; proxyTunnel: true } | undefined;

/** Sends what leaves this process through tunnels of a proxy, except to the hosts of NO_PROXY. Called before any request. */
export function useProxy({ HTTPS_PROXY: url, NO_PROXY: noProxy }: ProxySettings): void {
  proxy = url === undefined ? undefined : { httpProxy: url, httpsProxy: url, noProxy, proxyTunnel: true };
  setGlobalDispatcher(connections({}));
}

/** Connections as `useProxy` says; undici takes NO_PROXY except for its ranges of addresses. */
function connections(given: EnvHttpProxyAgent.Options): Dispatcher {
  const options = { maxHeaderSize: MAX_HEAD_BYTES, ...given };
  const direct = new Agent(options);
  if (proxy === undefined) return direct;
  const ranges = proxy.noProxy
    .split(/[,\s]+/)
    .filter(ipaddr.isValidCIDR)
    .map(ipaddr.parseCIDR);
  const isDirect = (host: string) =>
    ipaddr.isValid(host) && ipaddr.subnetMatch(ipaddr.process(host), { direct: ranges }, '') === 'direct';
  return new EnvHttpProxyAgent({ ...proxy, ...options }).compose((dispatch) => (request, handler) => {
    const { hostname } = new URL(request.origin ?? '');
    return isDirect(withoutBrackets(hostname))
      ? direct.dispatch(request, handler)
      : dispatch(request, handler);
  });
}

function withoutBrackets(host: string): string {
  return host.replace(/^\[|\]$/g, '');
}

/** What opens WebSockets through the proxy; undefined without one. */
export function proxyDispatcher(): Dispatcher | undefined {
  return proxy && getGlobalDispatcher();
}

/**
 * Connections to hosts whose addresses `lookup` accepts, or that are among `allowedHosts`. The proxy looks names up by itself:
 * it is asked only for those that passed here.
 */
export function guardedConnections(
  allowedHosts: ReadonlySet<string>,
  lookup: LookupFunction,
  timeoutMs: number,
): Dispatcher {
  const options = { allowH2: false, connect: { timeout: timeoutMs, lookup }, connectTimeout: timeoutMs };
  const clientFactory = (origin: URL, poolOptions: object) => {
    const pool = new Pool(origin, poolOptions);
    const open = pool.connect.bind(pool);
    const connect = async (request: Dispatcher.ConnectOptions) => {
      const host = withoutBrackets(new URL(`http://${request.path}`).hostname);
      if (isIP(host) === 0 && !allowedHosts.has(host)) await promisify(lookup)(host, { all: true });
      return open(request);
    };
    return Object.assign(pool, { connect });
  };
  return connections({ ...options, clientFactory });
}
