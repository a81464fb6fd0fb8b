import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import type { LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostNameOf } from '../calls/outbound-proxy.ts';

/** The only IPv6 network of public addresses (IANA IPv6 address space registry). */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an IP address belongs to a private, local or special network (IANA special-purpose registries). */
export function isPrivateAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  const range = parsed.range();
  // A NAT64 gateway turns an address of 64:ff9b::/96 into the IPv4 address in its last four bytes.
  if (range === 'rfc6052') return isPrivateAddress(parsed.toByteArray().slice(-4).join('.'));
  return range !== 'unicast' || (parsed instanceof ipaddr.IPv6 && !parsed.match(GLOBAL_IPV6));
}

/** A DNS lookup that fails for names with a private address. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 4);
    deliver(hostname, options, addresses, callback);
  });
};

/** Looks up `allowedHosts` without a limit on their addresses, and all other names by `others`. */
export function lookupWithAllowed(allowedHosts: ReadonlySet<string>, others: LookupFunction): LookupFunction {
  return (hostname, options, callback) =>
    (allowedHosts.has(hostname.toLowerCase()) ? lookup : others)(hostname, options, callback);
}

/** Milliseconds of one attempt, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2_000, tries: 2 };

/**
 * The same for untrusted names. The system resolver uses one of the few threads that the process has for files and
 * names, so a name server that never answers could block them all. This resolver uses none.
 */
export function resolverLookup(resolver: Resolver = new Resolver(RESOLVER_OPTIONS)): LookupFunction {
  return (hostname, options, callback) => {
    const wanted = ([4, 6] as const).filter((family) =>
      [undefined, 0, family, `IPv${family}`].includes(options.family),
    );
    const queries = wanted.map(async (family) => {
      const found = family === 4 ? await resolver.resolve4(hostname) : await resolver.resolve6(hostname);
      return found.map((address) => ({ address, family }));
    });
    void Promise.allSettled(queries).then((answers) => {
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const failed = answers.find((answer) => answer.status === 'rejected');
      if (found.length > 0) return deliver(hostname, options, found, callback);
      const cause: unknown = failed?.reason;
      callback(cause instanceof Error ? cause : new Error(`${hostname} has no address`), '', 4);
    });
  };
}

const PRIVATE_ADDRESS = { code: 'PRIVATE_ADDRESS' };

/** Passes the addresses on unless one is private. */
function deliver(
  hostname: string,
  { all }: LookupOptions,
  addresses: LookupAddress[],
  callback: Parameters<LookupFunction>[2],
): void {
  const privateAddress = addresses.find(({ address }) => isPrivateAddress(address));
  const first = addresses[0];
  if (privateAddress !== undefined || first === undefined)
    callback(Object.assign(new Error(`${hostname} has a private address`), PRIVATE_ADDRESS), '', 4);
  else if (all === true) callback(null, addresses);
  else callback(null, first.address, first.family);
}

/** Whether a URL leads, without a user, by https to a public host, or to one of `allowedHosts`. */
export function mayReach(url: URL, allowedHosts: ReadonlySet<string>): boolean {
  const host = hostNameOf(url);
  if (!/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return false;
  return allowedHosts.has(host) || (url.protocol === 'https:' && !isPrivateAddress(host));
}

/** The service's address. Throws TypeError unless it is public https, or its host is one of `allowedHosts`. */
export function parseServiceUrl(text: string, allowedHosts: ReadonlySet<string>): URL {
  const url = URL.parse(text);
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isPlain || url.search !== '' || url.hash !== '') {
    throw new TypeError('AGENT_BASE_URL must be an http(s) address without user, query or fragment.');
  }
  if (mayReach(url, allowedHosts)) return url;
  throw new TypeError(
    `AGENT_BASE_URL must be https at a public address. To allow ${hostNameOf(url)} anyway, add it to PRIVATE_HOSTS.`,
  );
}
