import type { Logger } from 'pino';
import type { Store } from '../../store/store.ts';
import { Rounds } from '../rounds.ts';

/** How often a sign is left that events can come (ms): far below any gap that is worth a look. */
const everyMs = 15_000;
/** Threads that were used in this time before a gap (ms) are read back. */
const usedMs = 24 * 60 * 60_000;
/** Slack tries an event again for five minutes and a little: what it sent before the gap may be missing too (ms). */
const marginMs = 10 * 60_000;

/** What noticing gaps needs. */
export interface ReceivingParts {
  store: Store;
  workspaces(): readonly string[];
  /** Whether events can reach this process now. */
  alive(): boolean;
  /** After how long without a sign there is a gap (ms). */
  gapMs: number;
  /** Hears after each sign; there may be something to read back. */
  onSign(): void;
  log: Logger;
}

/**
 * Notices that nobody could receive events for a while. A quiet workspace is no gap: what counts is that some process
 * had a connection to Slack, or served Slack's requests, and could write to the database.
 */
export class Receiving {
  readonly #parts: ReceivingParts;
  readonly #heard = new Set<string>();
  readonly #rounds: Rounds;

  constructor(parts: ReceivingParts) {
    this.#parts = parts;
    this.#rounds = new Rounds({
      everyMs,
      round: () => this.#sign(),
      onError: (error) => parts.log.debug({ err: error }, 'no sign of receiving could be left'),
    });
  }

  start(): void {
    this.#rounds.start();
    this.sign();
  }

  /** Leaves no more signs. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /** An event of this workspace came. */
  heard(workspace: string): void {
    this.#heard.add(workspace);
  }

  /** Leaves a sign now, if events can come: a connection is back. Does nothing before the start. */
  sign(): void {
    this.#rounds.look();
  }

  async #sign(): Promise<void> {
    for (const workspace of this.#parts.workspaces()) {
      const event = this.#heard.has(workspace);
      if (!event && !this.#parts.alive()) continue;
      await this.#look(workspace, event);
      this.#heard.delete(workspace);
    }
    this.#parts.onSign();
  }

  async #look(workspace: string, event: boolean): Promise<void> {
    const { store, gapMs, log } = this.#parts;
    const gap = await store.transaction(async (inside) => {
      const ended = await inside.workspaces.receiving(workspace, { event, gapMs });
      if (ended === undefined) return undefined;
      const { since, now } = ended;
      const places = await inside.catchUps.note(workspace, since, usedMs, marginMs);
      await inside.projectNames.missed(workspace);
      return { since, minutes: Math.round((now.getTime() - since.getTime()) / 60_000), places };
    });
    if (gap === undefined) return;
    log.warn(
      { workspace, ...gap },
      'no events were received for a while; the threads and channels of the 24 hours before are read back, but a first mention elsewhere stays unseen',
    );
  }
}
