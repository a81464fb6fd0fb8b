import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import { Poller } from '../runtime/poller.ts';

/** How often a heartbeat is recorded while events can arrive (ms): far below any gap that needs a backfill. */
const HEARTBEAT_INTERVAL_MS = 15_000;
/** Threads that were active this long before a gap (ms) are read. */
const BACKFILL_WINDOW_MS = 24 * 60 * 60_000;
/** Slack redelivers an event for a little over five minutes, so events from before the gap may be missing, too (ms). */
const REDELIVERY_MARGIN_MS = 10 * 60_000;

/** What detecting gaps needs. */
export interface EventGapDetectorDeps {
  store: Store;
  workspaces(): readonly string[];
  /** Whether events can reach this process at the moment. */
  canReceiveEvents(): boolean;
  /** How long without a heartbeat is a gap (ms). */
  minGapMs: number;
  /** Called after each heartbeat: there may be a gap to backfill. */
  onHeartbeat(): void;
  log: Logger;
}

/**
 * Detects that no process could receive events for a while. A quiet workspace is not a gap: what counts is that some
 * process was connected to Slack, or served Slack's requests, and could write to the database.
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
      onError: (error) => deps.log.debug({ err: error }, 'recording a heartbeat failed'),
    });
  }

  start(): void {
    this.#poller.start();
    this.heartbeatNow();
  }

  /** Stops recording heartbeats. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** An event of this workspace arrived. */
  onEvent(workspace: string): void {
    this.#workspacesHeardFrom.add(workspace);
  }

  /** Records a heartbeat now, if events can arrive: a connection is back. Does nothing before the start. */
  heartbeatNow(): void {
    this.#poller.pollNow();
  }

  async #recordHeartbeats(): Promise<void> {
    for (const workspace of this.#deps.workspaces()) {
      if (!this.#workspacesHeardFrom.has(workspace) && !this.#deps.canReceiveEvents()) continue;
      await this.#recordHeartbeat(workspace);
      this.#workspacesHeardFrom.delete(workspace);
    }
    this.#deps.onHeartbeat();
  }

  async #recordHeartbeat(workspace: string): Promise<void> {
    const { store, minGapMs, log } = this.#deps;
    const gap = await store.transaction(async (trxStore) => {
      const ended = await trxStore.workspaces.recordReceiving(workspace, minGapMs);
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
      'no events were received for a while; reading the threads and channels that were active in the 24 hours before, but a first mention in another channel stays unseen',
    );
  }
}
