import type { ThreadKey } from '../../store/keys.ts';
import type { RelayDeps, WorkspaceClient } from '../runtime/deps.ts';
import type { Lease } from '../runtime/lease.ts';

/** Slack takes the sign of an agent at work down after an hour: it is shown anew before that (ms). */
const SESSION_REFRESH_MS = 50 * 60_000;

/** Shows in Slack's own way that the agent works in a thread, while `work` goes on; nothing waits for it. */
export async function withAgentSession<T>(
  { log }: Pick<RelayDeps, 'log'>,
  { sessions }: Pick<WorkspaceClient, 'sessions'>,
  { channel, root: threadTs }: ThreadKey,
  lease: Lease,
  work: () => Promise<T>,
): Promise<T> {
  if (sessions === undefined) return work();
  const show = (status: 'processing' | 'active') => {
    sessions
      .setStatus({ channel, threadTs }, status)
      .catch((error: unknown) => log.debug({ err: error }, 'a session was not shown'));
  };
  show('processing');
  const timer = setInterval(() => show('processing'), SESSION_REFRESH_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
    // Handed over, the work goes on elsewhere.
    if (!lease.draining.aborted && !lease.signal.aborted) show('active');
  }
}
