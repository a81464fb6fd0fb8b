import { CALL_TIMEOUT_MS } from '../slack/client.ts';
import { type Lease, leaseMs } from './lease.ts';
import { pause } from './patience.ts';

/** The way of a call to the other side (ms). */
const wayMs = 2_000;
/** When a call to Slack whose outcome is unknown is surely over (ms since its intent): the longest call, and the way. */
export const slackOverMs = CALL_TIMEOUT_MS + wayMs;
/** The same for a call to the service: it ends with the lease that it began under, and the way. */
export const serviceOverMs = leaseMs + wayMs;

/** Milliseconds until a call that was intended then is surely over; 0 or less: it is. */
export function leftMs(intendedAt: Date, overMs: number): number {
  return intendedAt.getTime() + overMs - Date.now();
}

/** Waits until a call that was intended then is surely over; throws like `pause`. */
export async function untilOver(intendedAt: Date, overMs: number, lease: Lease): Promise<void> {
  const left = leftMs(intendedAt, overMs);
  if (left > 0) await pause(left, lease);
}
