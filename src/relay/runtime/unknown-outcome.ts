import { CALL_TIMEOUT_MS } from '../../slack/slack-client.ts';
import { LEASE_MS, type Lease } from './lease.ts';
import { sleepWithLease } from './retry.ts';

/** How long (ms) a request may travel. */
const NETWORK_MARGIN_MS = 2_000;
/** How long after its intent (ms) a call to Slack has surely ended: the longest call, and the network. */
export const SLACK_CALL_LIFETIME_MS = CALL_TIMEOUT_MS + NETWORK_MARGIN_MS;
/** The same for a call to the service, which ends with its lease. */
export const SERVICE_CALL_LIFETIME_MS = LEASE_MS + NETWORK_MARGIN_MS;

/** Milliseconds until a call that was intended then has surely ended; 0 or less if it has. */
export function msUntilCallEnded(intendedAt: Date, lifetimeMs: number): number {
  return intendedAt.getTime() + lifetimeMs - Date.now();
}

/** Waits until a call that was intended then has surely ended. Throws like `sleepWithLease`. */
export async function waitUntilCallEnded(intendedAt: Date, lifetimeMs: number, lease: Lease): Promise<void> {
  const remainingMs = msUntilCallEnded(intendedAt, lifetimeMs);
  if (remainingMs > 0) await sleepWithLease(remainingMs, lease);
}
