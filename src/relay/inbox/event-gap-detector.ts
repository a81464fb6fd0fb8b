import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import { Poller } from '../runtime/poller.ts';

/** How often a sign is left that events can come (ms): far below any gap that is worth a look. */
const HEARTBEAT_INTERVAL_MS = 15_000;
/** Threads that were used in this time before a gap (ms) are read back. */
const BACKFILL_WINDOW_MS = 24 * 60 * 60_000;
/** Slack tries an event again for five minutes and a little: what it sent before the gap may be missing too (ms). */
const REDELIVERY_MARGIN_MS = 10 * 60_000;

/** What noticing gaps needs. */
export interface EventGapDetectorDeps {
  store: Store;
  workspaces(): readonly string[];
  /** Whether events can reach this process now. */
  canReceiveEvents(): boolean;
  /** After how long without a sign there is a gap (ms). */
  minGapMs: number;
  /** Hears after each sign; there may be something to read back. */
  onHeartbeat(): void;
  log: Logger;
}

/**
 * Notices that nobody could receive events for a while. A quiet workspace is no gap: what counts is that some process
 * had a connection to Slack, or served Slack's requests, and could write to the database.
 */
export class EventGapDetector {
  readonly #deps: EventGapDetectorDeps;
  readonly #workspacesHeardFrom = new Set<string>();
  readonly #poller: Poller;

  constructor(deps: EventGapDetectorDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: HEARTBEAT_INTERVAL_MS,
      poll: () => this.#recordHeartbeats(),
      onError: (error) => deps.log.debug({ err: error }, 'no sign of receiving could be left'),
    });
  }

  start(): void {
    this.#poller.start();
    this.heartbeatNow();
  }

  /** Leaves no more signs. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** An event of this workspace came. */
  onEvent(workspace: string): void {
    this.#workspacesHeardFrom.add(workspace);
  }

  /** Leaves a sign now, if events can come: a connection is back. Does nothing before the start. */
  heartbeatNow(): void {
    this.#poller.pollNow();
  }

  async #recordHeartbeats(): Promise<void> {
    for (const workspace of this.#deps.workspaces()) {
      const hadEvent = this.#workspacesHeardFrom.has(workspace);
      if (!hadEvent && !this.#deps.canReceiveEvents()) continue;
      await this.#recordHeartbeat(workspace, hadEvent);
      this.#workspacesHeardFrom.delete(workspace);
    }
    this.#deps.onHeartbeat();
  }

  async #recordHeartbeat(workspace: string, hadEvent: boolean): Promise<void> {
    const { store, minGapMs, log } = this.#deps;
    const gap = await store.transaction(async (trxStore) => {
      const ended = await trxStore.workspaces.recordReceiving(workspace, {
        event: hadEvent,
        gapMs: minGapMs,
      });
      if (ended === undefined) return undefined;
      const { since, now } = ended;
      const places = await trxStore.backfills.addGap(
        workspace,
        since,
        BACKFILL_WINDOW_MS,
        REDELIVERY_MARGIN_MS,
      );
      await trxStore.projectNames.markAllDue(workspace);
      return { since, minutes: Math.round((now.getTime() - since.getTime()) / 60_000), places };
    });
    if (gap === undefined) return;
    log.warn(
      { workspace, ...gap },
      'no events were received for a while; the threads and channels of the 24 hours before are read back, but a first mention elsewhere stays unseen',
    );
  }
}
