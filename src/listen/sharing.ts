import { createHash, randomUUID } from 'node:crypto';
import { RECEIVER_LEASE_MS, type Receivers } from '../store/receivers.ts';

/** How a process takes part in sharing Slack's connections with the others. */
export interface Sharing {
  /** Says how many are open here; the answer is how many may be, for `leaseMs` from now. */
  renew(open: number): Promise<{ allowed: number; processes: number }>;
  /** Gives this process's connections back. */
  leave(): Promise<void>;
  readonly leaseMs: number;
}

/** Sharing through the database, of at most `most` connections in all. */
export function sharingOf(
  receivers: Receivers,
  { workspace, appToken, most }: { workspace: string; appToken: string; most: number },
): Sharing {
  const key = { workspace, app: appOf(appToken), process: randomUUID() };
  return {
    renew: (open) => receivers.renew(key, open, most),
    leave: () => receivers.leave(key),
    leaseMs: RECEIVER_LEASE_MS,
  };
}

/** The Slack app that an app-level token (`xapp-1-A0123-…`) belongs to; a token that does not say stands for itself. */
export function appOf(appToken: string): string {
  const named = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken)?.[1];
  return named ?? createHash('sha256').update(appToken).digest('hex').slice(0, 16);
}
