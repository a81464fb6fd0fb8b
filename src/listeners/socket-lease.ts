import { createHash, randomUUID } from 'node:crypto';
import { SOCKET_LEASE_MS, type SocketLeases } from '../store/slack/socket-leases.ts';

/** How a process takes part in sharing Slack's connections with the others. */
export interface SocketLease {
  /** Says how many are open here; the answer is how many may be, for `leaseMs` from now. */
  renew(open: number): Promise<{ allowed: number; processes: number }>;
  /** Gives this process's connections back. */
  release(): Promise<void>;
  readonly leaseMs: number;
}

/** Sharing through the database, of at most `most` connections in all. */
export function createSocketLease(
  receivers: SocketLeases,
  { workspace, appToken, most: maxConnections }: { workspace: string; appToken: string; most: number },
): SocketLease {
  const key = { workspace, app: slackAppIdOf(appToken), process: randomUUID() };
  return {
    renew: (open) => receivers.renew(key, open, maxConnections),
    release: () => receivers.release(key),
    leaseMs: SOCKET_LEASE_MS,
  };
}

/** The Slack app that an app-level token (`xapp-1-A0123-…`) belongs to; a token that does not say stands for itself. */
export function slackAppIdOf(appToken: string): string {
  const named = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken)?.[1];
  return named ?? createHash('sha256').update(appToken).digest('hex').slice(0, 16);
}
