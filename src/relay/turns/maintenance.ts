import type { RetentionDays } from '../../store/erasure/retention.ts';
import type { RelayDeps } from '../runtime/deps.ts';
import { Poller } from '../runtime/poller.ts';

/** Deletes expired rows, each time it is asked to. `onFailed` gets a step that the next sweep tries again. */
export function sweepPoller(
  { store, log }: Pick<RelayDeps, 'store' | 'log'>,
  retention: RetentionDays,
  onFailed: (step: string) => void,
): Poller {
  const poller = new Poller({
    poll: async () => {
      const swept = await store.retention.deleteExpired(retention, {
        signal: poller.signal,
        onFailed: (step, error) => {
          log.error({ step, err: error }, 'deleting expired rows failed; trying again in a minute');
          onFailed(step);
        },
      });
      if (swept > 0) log.debug({ rows: swept }, 'deleted expired rows');
    },
    onError: (err) => log.warn({ err }, 'expired rows could not be deleted; trying again later'),
  });
  return poller;
}
