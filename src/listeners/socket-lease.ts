import { createHash, randomUUID } from 'node:crypto';
import { SOCKET_LEASE_MS, type SocketLeases } from '../store/slack/socket-leases.ts';

/** A process's share of the app's Socket Mode connections. */
export interface SocketLease {
  /** Reports how many are open here; returns how many may be, for `leaseMs` from now. Throws a StoreError. */
  renew(open: number): Promise<{ allowed: number; processes: number }>;
  /** Gives this process's connections back. */
  release(): Promise<void>;
  readonly leaseMs: number;
}

/** Shares at most `maxConnections` connections among all processes, through the database. */
export function createSocketLease(
  leases: SocketLeases,
  workspace: string,
  appToken: string,
  maxConnections: number,
): SocketLease {
  const key = { workspace, app_id: slackAppIdOf(appToken), process_id: randomUUID() };
  return {
    renew: (open) => leases.renew(key, open, maxConnections),
    release: () => leases.release(key),
    leaseMs: SOCKET_LEASE_MS,
  };
}

/** The Slack app of an app-level token (`xapp-1-A0123-…`); a token of another form stands for itself. */
export function slackAppIdOf(appToken: string): string {
  const named = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken)?.[1];
  return named ?? createHash('sha256').update(appToken).digest('hex').slice(0, 16);
}
