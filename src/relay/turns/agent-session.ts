import type { ThreadKey } from '../../store/keys.ts';
import type { ThreadWork } from '../runtime/deps.ts';
import { inBackground } from '../runtime/poller.ts';

/** Slack clears the status of a working agent after an hour: it is set again before that (ms). */
const SESSION_REFRESH_MS = 50 * 60_000;

/** Sets Slack's agent status of a thread to working while `work` runs; failures are ignored. */
export async function withAgentSession<T>(
  { deps: { log }, workspace: { sessions }, lease }: ThreadWork,
  { channel, thread_ts: threadTs }: ThreadKey,
  work: () => Promise<T>,
): Promise<T> {
  if (sessions === undefined) return work();
  const show = (status: 'processing' | 'active') => {
    const shown = sessions.setStatus({ channel, threadTs }, status);
    inBackground(shown, log, 'could not set the agent status of a thread');
  };
  show('processing');
  const timer = setInterval(() => show('processing'), SESSION_REFRESH_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    // After a handover, another process continues the work.
    if (!lease.draining.aborted && !lease.signal.aborted) show('active');
  }
}
