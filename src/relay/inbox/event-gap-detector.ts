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
  /** Workspaces whose gap is not recorded yet. */
  readonly #silentWorkspaces = new Set<string>();
  readonly #poller: Poller;
  readonly #gaps: Poller;

  constructor(deps: EventGapDetectorDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: HEARTBEAT_INTERVAL_MS,
      poll: () => this.#recordHeartbeats(),
      onError: (error) => deps.log.debug({ err: error }, 'recording a heartbeat failed'),
    });
    // On its own: heartbeats continue while the gaps of many workspaces are recorded, or they would make a gap.
    this.#gaps = new Poller({
      poll: () => this.#recordGaps(),
      onError: (error) => deps.log.debug({ err: error }, 'recording a gap failed; trying again'),
    });
  }

  start(): void {
    this.#poller.start();
    this.heartbeatNow();
  }

  /** Stops recording heartbeats. */
  async stop(): Promise<void> {
    await Promise.all([this.#poller.stop(), this.#gaps.stop()]);
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
    const { store, workspaces, canReceiveEvents, minGapMs, onHeartbeat } = this.#deps;
    const heardFrom = [...this.#workspacesHeardFrom];
    const receiving = canReceiveEvents() ? workspaces() : heardFrom;
    for (const silent of await store.workspaces.recordAllReceiving(receiving, minGapMs))
      this.#silentWorkspaces.add(silent);
    for (const workspace of heardFrom) this.#workspacesHeardFrom.delete(workspace);
    if (this.#silentWorkspaces.size > 0) this.#gaps.pollNow();
    else onHeartbeat();
  }

  async #recordGaps(): Promise<void> {
    for (const workspace of this.#silentWorkspaces) {
      if (this.#gaps.signal.aborted) return;
      await this.#recordGap(workspace);
      this.#silentWorkspaces.delete(workspace);
    }
    this.#deps.onHeartbeat();
  }

  async #recordGap(workspace: string): Promise<void> {
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
