import type { Logger } from 'pino';
import { type DueWork, WORK_KINDS } from '../../store/queue/due-work.ts';
import { Poller } from './poller.ts';

/** How often due work is looked for (ms): how late another process notices a stop or a change. */
const POLL_INTERVAL_MS = 1_000;

/** What looking for due work needs. */
export interface DueWorkPollerDeps {
  read(): Promise<DueWork>;
  /** Begins the work of each kind; it returns at once, and claims what it does. */
  begin: Record<(typeof WORK_KINDS)[number], () => void>;
  /** A workspace, an installation or an account has changed. */
  onInstallationsChanged(): void;
  log: Logger;
}

/** Looks for all work that waits for a time or for another process, in place of a poll for each kind. */
export class DueWorkPoller {
  readonly #deps: DueWorkPollerDeps;
  readonly #poller: Poller;
  #changeSeq: number | undefined;

  constructor(deps: DueWorkPollerDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: POLL_INTERVAL_MS,
      poll: () => this.#beginDue(),
      onError: (error) => deps.log.debug({ err: error }, 'could not look for due work; trying again'),
    });
  }

  start(): void {
    this.#poller.start();
    this.#poller.pollNow();
  }

  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  async #beginDue(): Promise<void> {
    const due = await this.#deps.read();
    for (const kind of WORK_KINDS) if (due[kind]) this.#deps.begin[kind]();
    if (due.changeSeq !== this.#changeSeq) this.#deps.onInstallationsChanged();
    this.#changeSeq = due.changeSeq;
  }
}
