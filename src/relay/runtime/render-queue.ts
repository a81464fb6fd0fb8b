import { sleepUnlessAborted } from '../../calls/retries-and-waits.ts';

/** A workspace's share of the process's time: what it uses beyond that is its debt until enough time has passed. */
const WORKSPACE_SHARE = 0.1;
/** The longest debt (ms) with which a slice may run: that of 2 s of use. */
const MAX_DEBT_MS = 2_000 / WORKSPACE_SHARE;
/** After a shorter slice (ms), the next one need not wait. */
const SHORT_SLICE_MS = 5;

/** Shares this process's time for rendering: one slice at a time, of the workspace that used least; after a long one, a pause as long. */
export class RenderQueue {
  readonly #now: () => number;
  readonly #sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** When the debt of a workspace is paid (ms, as `now`). */
  readonly #debtPaidAt = new Map<string, number>();
  readonly #waiting: { workspace: string; start: () => void }[] = [];
  #isBusy = false;

  /** `now` and `sleep` count milliseconds. */
  constructor({ now = () => performance.now(), sleep = sleepUnlessAborted } = {}) {
    this.#now = now;
    this.#sleep = sleep;
  }

  /** Runs a slice (at most about 50 ms) in its turn, once the workspace owes little; `signal` ends only that wait. */
  async run<T>(workspace: string, slice: () => T, signal: AbortSignal): Promise<T> {
    const waitMs = this.#debtMs(workspace) - MAX_DEBT_MS;
    if (waitMs > 0) await this.#sleep(waitMs, signal);
    if (this.#isBusy) await new Promise<void>((start) => this.#waiting.push({ workspace, start }));
    this.#isBusy = true;
    const begun = this.#now();
    try {
      return slice();
    } finally {
      const usedMs = this.#now() - begun;
      const debtMs = this.#debtMs(workspace) + usedMs / WORKSPACE_SHARE;
      this.#debtPaidAt.set(workspace, this.#now() + debtMs);
      const next = () => this.#startNext();
      if (usedMs < SHORT_SLICE_MS) setImmediate(next);
      else setTimeout(next, usedMs);
    }
  }

  /** Runs slices until one returns false. */
  async runAll(workspace: string, slice: () => boolean, signal: AbortSignal): Promise<void> {
    while (await this.run(workspace, slice, signal)) {
      // Each slice does its part.
    }
  }

  #debtMs(workspace: string): number {
    return Math.max(0, (this.#debtPaidAt.get(workspace) ?? 0) - this.#now());
  }

  #startNext(): void {
    const debts = this.#waiting.map(({ workspace }) => this.#debtMs(workspace));
    const [next] = this.#waiting.splice(debts.indexOf(Math.min(...debts)), 1);
    this.#isBusy = next !== undefined;
    next?.start();
    if (next !== undefined) return;
    for (const workspace of this.#debtPaidAt.keys())
      if (this.#debtMs(workspace) === 0) this.#debtPaidAt.delete(workspace);
  }
}
