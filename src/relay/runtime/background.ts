import type { Logger } from 'pino';

/** Lets work continue that nobody waits for: its failure is logged. */
export function inBackground(work: Promise<unknown>, log: Logger, failure: string): void {
  work.catch((error: unknown) => log.debug({ err: error }, failure));
}
