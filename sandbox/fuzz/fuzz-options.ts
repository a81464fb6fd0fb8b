import { z } from 'zod';
import type { DatabaseConnection } from '../chaos/bot-database.ts';
import { runOptions } from '../run-command.ts';

/** The options of all runs. */
export interface RunOptions {
  seed: number;
  /** An empty, migrated database; by default the run starts its own server. */
  database?: DatabaseConnection;
}

/** The options of a run that sends events. */
export interface FuzzOptions extends RunOptions {
  events: number;
  /** How often the heap is measured, each time collected first; 12 by default, at least 3. */
  heapSamples?: number;
  /** How many real questions are asked meanwhile; 10 by default. */
  questions?: number;
}

/** The options of a run against a hostile agent service. */
export interface ServiceFuzzOptions extends RunOptions {
  /** How many of its answers are wrong or hostile. */
  answers: number;
}

/** The options of a run against hostile registries. */
export interface RegistryFuzzOptions extends ServiceFuzzOptions {
  registries: true;
}

/** The options of a run against a service that differs from its document. */
export interface DriftOptions extends RunOptions {
  /** How many cases, chosen by the seed; all if left out. */
  cases?: number | undefined;
  /** Only the cases whose names begin so: a call, its field, what is wrong with it, with dots between them. */
  only?: string | undefined;
  /** These cases and no others, which spares the run a conversation that shows which there are. */
  names?: readonly string[];
}

const schema = z.object({
  drift: z.boolean().default(false),
  cases: z.coerce.number().int().positive().optional(),
  only: z.string().optional(),
  service: z.boolean().default(false),
  registries: z.boolean().default(false),
  answers: z.coerce.number().int().min(50).max(10_000_000).default(5_000),
  events: z.coerce.number().int().min(100).max(10_000_000).default(5_000),
  seed: z.coerce.number().int().nonnegative().default(1),
});

export const FUZZ_USAGE =
  'npm run fuzz -- [--events N | --service --answers N | --registries --answers N | --drift [--cases N] [--only CALL.FIELD]] --seed S';

/** Parses the arguments after the script's name. @throws UsageError */
export function parseFuzzOptions(
  args: readonly string[],
): FuzzOptions | ServiceFuzzOptions | RegistryFuzzOptions | DriftOptions {
  const parsed = runOptions(FUZZ_USAGE, args, schema);
  const { service, registries, drift, answers, events, seed, cases, only } = parsed;
  if (drift) return { cases, only, seed };
  if (registries) return { registries, answers, seed };
  return service ? { answers, seed } : { events, seed };
}
