import type { Logger } from 'pino';
import { NO_LONGER_NEEDED } from '../../calls/retries-and-waits.ts';

export interface PollerOptions {
  /** The time between polls (ms), skipped while one runs. Left out: polls only when it is asked to, also before the start. */
  intervalMs?: number;
  startsAtOnce?: boolean;
  poll: () => Promise<void>;
  /** Gets the error of a poll, unless it was stopped; polling continues after what it returns. */
  onError: (error: unknown) => unknown;
}

/** Polls at an interval or when it is asked to, one poll at a time. */
export class Poller {
  readonly #options: PollerOptions;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;
  #pollAgain = false;
  #isStopped = false;
  #stopController: AbortController | undefined;

  constructor(options: PollerOptions) {
    this.#options = options;
  }

  /** Starts; the first poll comes after one interval, or at once. */
  start(): void {
    const { intervalMs, startsAtOnce } = this.#options;
    if (intervalMs !== undefined) this.#timer = setInterval(() => this.pollIfIdle(), intervalMs);
    if (startsAtOnce === true) this.pollNow();
  }

  /** Polls now, unless a poll is under way. */
  pollIfIdle(): void {
    if (this.#running === undefined) this.pollNow();
  }

  /** Polls now, or once more after the poll under way. Does nothing before the start and after the stop. */
  pollNow(): void {
    const isStarted = this.#timer !== undefined || this.#options.intervalMs === undefined;
    if (!isStarted || this.#isStopped) return;
    this.#pollAgain = true;
    this.#running ??= this.#pollUntilDone();
  }

  /** Aborted by `stop`: a poll starts nothing more, and gives up what can be repeated. */
  get signal(): AbortSignal {
    this.#stopController ??= new AbortController();
    if (this.#isStopped) this.#stopController.abort(NO_LONGER_NEEDED);
    return this.#stopController.signal;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#stopController?.abort(NO_LONGER_NEEDED);
    clearInterval(this.#timer);
    await this.#running;
  }

  async #pollUntilDone(): Promise<void> {
    while (this.#pollAgain && !this.#isStopped) {
      this.#pollAgain = false;
      try {
        await this.#options.poll();
      } catch (error) {
        if (!this.#isStopped) await this.#options.onError(error);
      }
    }
    this.#running = undefined;
  }
}

/** Lets work continue for which nobody waits, not even the acknowledgement to Slack. Logs its failure. */
export function inBackground(
  work: Promise<unknown>,
  log: Logger,
  failure: string,
  level: 'debug' | 'warn' = 'debug',
): void {
  work.catch((error: unknown) => log[level]({ err: error }, failure));
}
