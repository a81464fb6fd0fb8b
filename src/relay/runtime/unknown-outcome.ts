import { CALL_TIMEOUT_MS } from '../../slack/slack-client.ts';
import { LEASE_MS, type Lease } from './lease.ts';
import { sleepWithLease } from './retry.ts';

/** The way of a call to the other side (ms). */
const NETWORK_MARGIN_MS = 2_000;
/** When a call to Slack whose outcome is unknown is surely over (ms since its intent): the longest call, and the way. */
export const SLACK_CALL_LIFETIME_MS = CALL_TIMEOUT_MS + NETWORK_MARGIN_MS;
/** The same for a call to the service: it ends with the lease that it began under, and the way. */
export const SERVICE_CALL_LIFETIME_MS = LEASE_MS + NETWORK_MARGIN_MS;

/** Milliseconds until a call that was intended then is surely over; 0 or less: it is. */
export function msUntilCallEnded(intendedAt: Date, lifetimeMs: number): number {
  return intendedAt.getTime() + lifetimeMs - Date.now();
}

/** Waits until a call that was intended then is surely over; throws like `pause`. */
export async function waitUntilCallEnded(intendedAt: Date, lifetimeMs: number, lease: Lease): Promise<void> {
  const remainingMs = msUntilCallEnded(intendedAt, lifetimeMs);
  if (remainingMs > 0) await sleepWithLease(remainingMs, lease);
}
