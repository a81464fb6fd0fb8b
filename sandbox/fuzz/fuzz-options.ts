import { parseArgs } from 'node:util';
import { z } from 'zod';

/** The command line options. */
export interface FuzzOptions {
  events: number;
  seed: number;
}

const schema = z.object({
  events: z.coerce.number().int().min(100).max(10_000_000).default(5_000),
  seed: z.coerce.number().int().nonnegative().default(1),
});

export const FUZZ_USAGE = 'Usage: npm run fuzz -- --events N --seed S';

/** The command line is invalid; `message` names the options at fault and shows the usage. */
export class FuzzOptionsError extends Error {
  readonly code = 'bad_options';

  constructor(problem: string) {
    super(`${problem}\n${FUZZ_USAGE}`);
    this.name = 'FuzzOptionsError';
  }
}

/** Parses the arguments after the script's name. @throws FuzzOptionsError */
export function parseFuzzOptions(args: readonly string[]): FuzzOptions {
  const option = { type: 'string' } as const;
  let values: unknown;
  try {
    ({ values } = parseArgs({ args: [...args], options: { events: option, seed: option } }));
  } catch (error) {
    throw new FuzzOptionsError(error instanceof Error ? error.message : String(error));
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  throw new FuzzOptionsError(
    parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'),
  );
}
