import { parseArgs } from 'node:util';
import { z } from 'zod';
import type { DatabaseConnection } from '../chaos/bot-database.ts';

/** The options of both runs. */
interface RunOptions {
  seed: number;
  /** An empty, migrated database; by default the run starts its own server. */
  database?: DatabaseConnection;
}

/** The options of a run that sends events. */
export interface FuzzOptions extends RunOptions {
  events: number;
}

/** The options of a run against a hostile agent service. */
export interface ServiceFuzzOptions extends RunOptions {
  /** How many of its answers are wrong or hostile. */
  answers: number;
}

const schema = z.object({
  service: z.boolean().default(false),
  answers: z.coerce.number().int().min(50).max(10_000_000).default(5_000),
  events: z.coerce.number().int().min(100).max(10_000_000).default(5_000),
  seed: z.coerce.number().int().nonnegative().default(1),
});

export const FUZZ_USAGE = 'Usage: npm run fuzz -- [--events N | --service --answers N] --seed S';

/** The command line is invalid; `message` names the options at fault and shows the usage. */
export class FuzzOptionsError extends Error {
  readonly code = 'bad_options';

  constructor(problem: string) {
    super(`${problem}\n${FUZZ_USAGE}`);
    this.name = 'FuzzOptionsError';
  }
}

/** Parses the arguments after the script's name. @throws FuzzOptionsError */
export function parseFuzzOptions(args: readonly string[]): FuzzOptions | ServiceFuzzOptions {
  const option = { type: 'string' } as const;
  let values: unknown;
  try {
    const options = { events: option, answers: option, seed: option, service: { type: 'boolean' } } as const;
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    throw new FuzzOptionsError(error instanceof Error ? error.message : String(error));
  }
  const parsed = schema.safeParse(values);
  if (parsed.success) {
    const { service, answers, events, seed } = parsed.data;
    return service ? { answers, seed } : { events, seed };
  }
  throw new FuzzOptionsError(
    parsed.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`).join('\n'),
  );
}
