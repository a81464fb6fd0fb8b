import type { Logger } from 'pino';
import { Poller } from '../relay/runtime/poller.ts';
import { type DueWork, readDueWork } from '../store/queue/due-work.ts';
import type { Storage } from './storage.ts';
import type { Workspaces } from './workspaces.ts';

/** How often due work is looked for (ms): how late another process notices a stop or a change. */
const POLL_INTERVAL_MS = 1_000;
/** How often all installations and accounts are read, which also shows deleted ones (ms). */
const FULL_REFRESH_INTERVAL_MS = 60_000;

/** Looks for all due work at once, in place of a poll for each part; `beginDue` lets each part begin its own. */
export function dueWorkPoller(
  { database }: Pick<Storage, 'database'>,
  /** What this process knows of installations and accounts, which has just been read. */
  { refreshables }: Pick<Workspaces, 'refreshables'>,
  beginDue: (due: DueWork) => Promise<void>,
  log: Logger,
): Poller {
  let knownChanges: number | undefined;
  let fullyRefreshedAt = performance.now();
  return new Poller({
    intervalMs: POLL_INTERVAL_MS,
    startsAtOnce: true,
    poll: async () => {
      const due = await readDueWork(database.kysely);
      await beginDue(due);
      const now = performance.now();
      const isFull = now - fullyRefreshedAt >= FULL_REFRESH_INTERVAL_MS;
      if (!isFull && due.changeSeq === knownChanges) return;
      for (const source of refreshables) await source.refresh(isFull);
      if (isFull) fullyRefreshedAt = now;
      knownChanges = due.changeSeq;
    },
    onError: (error) => log.debug({ err: error }, 'could not look for due work; trying again'),
  });
}
