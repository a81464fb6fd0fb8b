import type { Logger } from 'pino';
import type { Config } from '../../config.ts';

/** One line of the doctor. */
export interface CheckResult {
  /** What was checked. */
  what: string;
  ok: boolean;
  /** How it is; for a failure, what is wrong and what to do, with the name of the setting. */
  message: string;
}

/** What the checks need. */
export interface CheckTools {
  log: Logger;
  /** Our clock (ms since 1970). */
  now: () => number;
  /** Free bytes at a path, which need not exist. */
  freeBytes: (path: string) => Promise<number>;
}

/** Checks one part of the configuration. */
export type Check = (config: Config, tools: CheckTools) => Promise<CheckResult[]>;

/** A check that passed; `message` says how it is. */
export function passed(what: string, message: string): CheckResult {
  return { what, ok: true, message };
}

/** A check that failed; `message` says what is wrong and what to do. */
export function failed(what: string, message: string): CheckResult {
  return { what, ok: false, message };
}

/** The message of an error. */
export function errorMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
