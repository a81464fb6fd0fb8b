import { z } from 'zod';
import {
  exitIfHelpIsAsked,
  flattenSuppressedErrors,
  parseOptions,
  UsageError,
} from '../src/operate/command-runner.ts';

/** The options of a run as its schema has them; a boolean with a default takes no value. @throws UsageError */
export function runOptions<Schema extends z.ZodObject>(
  usage: string,
  args: readonly string[],
  schema: Schema,
): z.output<Schema> {
  const isFlag = (type: unknown) => type instanceof z.ZodDefault && type.unwrap() instanceof z.ZodBoolean;
  const kinds = Object.entries(schema.shape).map(([name, type]): [string, { type: 'boolean' | 'string' }] => [
    name,
    { type: isFlag(type) ? 'boolean' : 'string' },
  ]);
  const parsed = schema.safeParse(parseOptions(usage, args, Object.fromEntries(kinds)));
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`);
  throw new UsageError(usage, problems.join('\n'));
}

/** Performs a run: the exit code is 0 if it passed, 1 if not, and 2 for a wrong command line. */
export async function runCommand(
  help: string,
  hasPassed: (args: readonly string[]) => Promise<boolean>,
): Promise<void> {
  exitIfHelpIsAsked(`Usage: ${help}`);
  try {
    process.exitCode = (await hasPassed(process.argv.slice(2))) ? 0 : 1;
  } catch (error) {
    const isUsageError = error instanceof UsageError;
    console.error(...(isUsageError ? [error.message] : flattenSuppressedErrors(error)));
    process.exitCode = isUsageError ? 2 : 1;
  }
}
