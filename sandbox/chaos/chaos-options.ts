import { z } from 'zod';
import { runOptions } from '../run-command.ts';

/** The command line options. */
export interface ChaosOptions {
  /** How many times a process is killed. */
  kills: number;
  seed: number;
  /** How long each fault of the database lasts (s); undefined for none. */
  databaseFaultSeconds?: number | undefined;
  /** Whether workflows ask too, with a step. */
  workflows?: boolean;
  /** Whether more people write directly, replies to them are streamed, and the app is declared an agent. */
  streams?: boolean;
  /** Whether the agent asks people, who are reminded if nobody answers. */
  questions?: boolean;
  /** Whether people ask finished questions again, in new threads. */
  again?: boolean;
  /** Whether people save the records of tasks. */
  records?: boolean;
  /** Bot processes on one database. */
  replicas: number;
  /** How events reach the bot; `http` goes through a load balancer. */
  transport: 'http' | 'socket';
  /** The longest that the agent service takes for a call, in seconds. */
  delay: number;
  /** Folder for the bot's logs; by default a temporary one that is kept only if there is damage. */
  logs: string | undefined;
}

/** The options of a run with things that stay bad. */
export interface PoisonOptions extends Pick<ChaosOptions, 'seed' | 'logs'> {
  poison: true;
}

/** Without `--database`, which alone kills no process of the bot. */
const DEFAULT_KILLS = 20;

const schema = z.object({
  kills: z.coerce.number().int().min(1).max(1_000).optional(),
  database: z.coerce.number().min(1).max(600).optional(),
  poison: z.coerce.number().int().nonnegative().optional(),
  seed: z.coerce.number().int().nonnegative().default(1),
  workflows: z.boolean().default(false),
  streams: z.boolean().default(false),
  questions: z.boolean().default(false),
  again: z.boolean().default(false),
  records: z.boolean().default(false),
  replicas: z.coerce.number().int().min(1).max(8).default(1),
  transport: z.enum(['http', 'socket']).optional(),
  delay: z.coerce.number().min(0).max(60).default(30),
  logs: z.string().min(1).optional(),
});

export const CHAOS_USAGE =
  'npm run chaos -- --kills N --seed S [--database SECONDS] [--workflows] [--streams] [--questions] [--again] [--records] [--replicas R] [--transport http|socket] [--delay SECONDS] [--logs FOLDER]\n' +
  '       npm run chaos -- --poison S [--logs FOLDER]';

/** Parses the arguments after the script's name. @throws UsageError */
export function parseChaosOptions(args: readonly string[]): ChaosOptions | PoisonOptions {
  const parsed = runOptions(CHAOS_USAGE, args, schema, [
    'workflows',
    'streams',
    'questions',
    'again',
    'records',
  ]);
  const { transport, logs, database, kills, poison, ...rest } = parsed;
  if (poison !== undefined) return { poison: true, seed: poison, logs };
  return {
    ...rest,
    kills: kills ?? (database === undefined ? DEFAULT_KILLS : 0),
    databaseFaultSeconds: database,
    transport: transport ?? (rest.replicas > 1 ? 'socket' : 'http'),
    logs,
  };
}
