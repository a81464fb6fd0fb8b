import { ConfigError } from '../config.ts';
import { flattenSuppressedErrors } from './suppressed-errors.ts';

/** The command line is not usable; `message` shows how it goes. */
export class UsageError extends Error {
  readonly code = 'bad_usage';

  constructor(usage: string, problem: string) {
    super(`${problem}\nUsage: ${usage}`);
    this.name = 'UsageError';
  }
}

/** Runs an operator's command and ends the process: 2 for a wrong command line, 1 for what failed, with a sentence. */
export async function runCommand(work: () => Promise<number>): Promise<never> {
  try {
    process.exit(await work());
  } catch (error) {
    for (const failure of flattenSuppressedErrors(error)) console.error(describeError(failure));
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

function describeError(error: unknown): string {
  if (error instanceof UsageError || error instanceof ConfigError) return error.message;
  return `It failed: ${error instanceof Error ? error.message : String(error)}`;
}
