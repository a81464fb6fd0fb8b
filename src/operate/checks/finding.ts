import type { Logger } from 'pino';
import type { Config } from '../../config.ts';

/** One line of the doctor's. */
export interface Finding {
  /** What was looked at. */
  what: string;
  ok: boolean;
  /** How it is; where it is not OK, what to do, naming the setting. */
  says: string;
}

/** What the checks look with. */
export interface Instruments {
  log: Logger;
  /** Our clock (ms since 1970). */
  now: () => number;
  /** Bytes that are free where a path is, or would be. */
  freeBytes: (path: string) => Promise<number>;
}

/** Looks at one side of the settings. */
export type Check = (config: Config, instruments: Instruments) => Promise<Finding[]>;

/** All is well; `says` is how it is. */
export function fine(what: string, says: string): Finding {
  return { what, ok: true, says };
}

/** Something is to be mended; `says` is what to do. */
export function wrong(what: string, says: string): Finding {
  return { what, ok: false, says };
}

/** What an error says. */
export function sayingOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
