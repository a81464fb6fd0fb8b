import type { Logger } from 'pino';
import type { Config } from '../../config.ts';

/** One line of the doctor's. */
export interface CheckResult {
  /** What was looked at. */
  what: string;
  ok: boolean;
  /** How it is; where it is not OK, what to do, naming the setting. */
  message: string;
}

/** What the checks look with. */
export interface CheckTools {
  log: Logger;
  /** Our clock (ms since 1970). */
  now: () => number;
  /** Bytes that are free where a path is, or would be. */
  freeBytes: (path: string) => Promise<number>;
}

/** Looks at one side of the settings. */
export type Check = (config: Config, instruments: CheckTools) => Promise<CheckResult[]>;

/** All is well; `says` is how it is. */
export function passed(what: string, message: string): CheckResult {
  return { what, ok: true, message };
}

/** Something is to be mended; `says` is what to do. */
export function failed(what: string, message: string): CheckResult {
  return { what, ok: false, message };
}

/** What an error says. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
