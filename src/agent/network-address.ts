import { type LookupAddress, type LookupOptions, lookup } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Addresses of private, local and special networks (IANA special-purpose registries). */
const SPECIAL_NETWORKS = new BlockList();
for (const [net, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const) {
  SPECIAL_NETWORKS.addSubnet(net, prefix, 'ipv4');
}
for (const [net, prefix] of [
  // Any, this machine, and old forms of IPv4 addresses (RFC 4291, RFC 2765).
  ['::', 96],
  ['::ffff:0:0:0', 96],
  ['64:ff9b:1::', 48],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  SPECIAL_NETWORKS.addSubnet(net, prefix, 'ipv6');
}

/** Whether an IP address belongs to a private, local or special network. */
export function isPrivateAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 0) return false;
  if (SPECIAL_NETWORKS.check(address, family === 4 ? 'ipv4' : 'ipv6')) return true;
  const inside = nat64Target(address);
  return inside !== undefined && SPECIAL_NETWORKS.check(inside, 'ipv4');
}

/** The IPv4 address that a NAT64 gateway turns an address of 64:ff9b::/96 into. */
function nat64Target(address: string): string | undefined {
  const [, high, low] = /^\[64:ff9b::(?:([0-9a-f]{1,4}):)?([0-9a-f]{1,4})\]$/.exec(shortIpv6(address)) ?? [];
  if (low === undefined) return undefined;
  const [a, b] = [Number.parseInt(high ?? '0', 16), Number.parseInt(low, 16)];
  return [a >> 8, a & 255, b >> 8, b & 255].join('.');
}

/** An IPv6 address in its short form, as URLs write it. */
function shortIpv6(address: string): string {
  return URL.parse(`http://[${address}]`)?.hostname ?? '';
}

/** The host name of a URL without the brackets of an IPv6 address. */
export function hostNameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').toLowerCase();
}

/** A DNS lookup that fails for names with a private address. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return callback(error, '', 4);
    deliver(hostname, options, addresses, callback);
  });
};

/** Milliseconds of one attempt, and the number of attempts. */
const RESOLVER_OPTIONS = { timeout: 2_000, tries: 2 };

/**
 * The same for untrusted names. The system resolver uses one of the few threads that the process has for files and
 * names, so a name server that never answers could block them all. This resolver uses none.
 */
export function resolverLookup(resolver: Resolver = new Resolver(RESOLVER_OPTIONS)): LookupFunction {
  return (hostname, options, callback) => {
    const wanted = ([4, 6] as const).filter((family) => [0, undefined, family].includes(familyOf(options)));
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

function familyOf({ family }: LookupOptions): number | undefined {
  if (family === 'IPv4') return 4;
  return family === 'IPv6' ? 6 : family;
}

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
    callback(new Error(`${hostname} has a private address`), '', 4);
  else if (all === true) callback(null, addresses);
  else callback(null, first.address, first.family);
}

/** The service's address. Throws TypeError unless it is public https, or its host is one of `allowedHosts`. */
export function parseServiceUrl(text: string, allowedHosts: ReadonlySet<string>): URL {
  const url = URL.parse(text);
  const isPlain =
    url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!isPlain || url.search !== '' || url.hash !== '') {
    throw new TypeError('AGENT_BASE_URL must be an http(s) address without user, query or fragment.');
  }
  const host = hostNameOf(url);
  if (allowedHosts.has(host)) return url;
  if (isPrivateAddress(host) || url.protocol !== 'https:') {
    throw new TypeError(
      `AGENT_BASE_URL must be https at a public address. To allow ${host} anyway, add it to PRIVATE_HOSTS.`,
    );
  }
  return url;
}
