import type { Logger } from 'pino';
import { failureCodes } from '../../calls/outbound-proxy.ts';
import type { Config } from '../../config/environment-and-secret-files.ts';

export interface CheckResult {
  what: string;
  ok: boolean;
  /** How it is; for a failure, what is wrong and what to do, with the name of the setting. */
  message: string;
}

export interface CheckTools {
  log: Logger;
  /** Our clock (ms since 1970). */
  now: () => number;
  /** Free bytes at a path, which need not exist. */
  freeBytes: (path: string) => Promise<number>;
  /** Whether to put right at Slack what can be. */
  mend: boolean;
}

/**
 * Checks one part of the configuration. Yields how the part is, or results about something else that it found. Throws
 * an error that says what is wrong and what to do; yields nothing if the part is not configured.
 */
export type Check = (config: Config, tools: CheckTools) => AsyncIterable<string | CheckResult>;

/** The failure of a check that got no answer at the address of a setting; `reason` is for what has no code. */
export function unreachable(setting: string, error: unknown, reason: string): Error {
  const code = failureCodes(error).at(-1);
  const remedy = code === undefined ? undefined : REMEDIES.find(([codes]) => codes.test(code))?.[1];
  const what = remedy ?? 'Check the address, the network, the firewall, DNS and any proxy.';
  return new Error(`Could not reach ${setting} (${code ?? reason}). ${what}`);
}

/** What to do where a connection fails with such a code. */
const REMEDIES = [
  [/^PRIVATE_ADDRESS$/, 'Its name leads to a private address: add it to PRIVATE_HOSTS.'],
  [/^PROXY_40[137]$/, 'The proxy refuses: check HTTPS_PROXY and NO_PROXY.'],
  [/^PROXY_/, 'The proxy does not get there: check the address, or name the host in NO_PROXY.'],
  [/ALTNAME_INVALID$/, 'Its certificate is for another host: check the address.'],
  [/EXPIRED$|NOT_YET_VALID$/, 'Its certificate is out of date: check the clock, or have it renewed.'],
  [
    /CERT|SELF_SIGNED|^UNABLE_TO_/,
    'Its certificate is not trusted: name its authority in NODE_EXTRA_CA_CERTS.',
  ],
] as const;
