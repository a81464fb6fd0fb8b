import { parseArgs } from 'node:util';
import { z } from 'zod';

/** What the command line asks for. */
export interface FuzzOptions {
  events: number;
  seed: number;
}

const schema = z.object({
  events: z.coerce.number().int().min(100).max(10_000_000).default(5_000),
  seed: z.coerce.number().int().nonnegative().default(1),
});

/** The command line does not make options. */
export class FuzzOptionsError extends Error {
  readonly code = 'bad_options';

  constructor(problem: string) {
    super(`${problem}\nUsage: npm run fuzz -- --events N --seed S`);
    this.name = 'FuzzOptionsError';
  }
}

/** Reads the command line, without `node` and the file's name. Throws FuzzOptionsError. */
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
