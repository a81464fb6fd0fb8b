import { z } from 'zod';
import { runOptions } from '../run-command.ts';

/** What a run does besides, each with a flag of its own. */
export const EXTRAS = ['workflows', 'streams', 'questions', 'again', 'records', 'sources'] as const;
export type Extra = (typeof EXTRAS)[number];

/** Without `--database` and `--network`, which alone kill no process of the bot. */
const DEFAULT_KILLS = 20;

const schema = z.object({
  /** How many times a process is killed. */
  kills: z.coerce.number().int().min(1).max(1_000).optional(),
  /** How long each fault of the database lasts (s). */
  database: z.coerce.number().min(1).max(600).optional(),
  /** How long each fault of the network lasts (s). */
  network: z.coerce.number().min(1).max(600).optional(),
  /** Slack and the service are reached by TLS, and offer HTTP/2. */
  tls: z.boolean().default(false),
  /** The seed of a run with things that stay bad. */
  poison: z.coerce.number().int().nonnegative().optional(),
  seed: z.coerce.number().int().nonnegative().default(1),
  /** Workflows ask too, with a step. */
  workflows: z.boolean().default(false),
  /** More people write directly, replies to them are streamed, and the app is declared an agent. */
  streams: z.boolean().default(false),
  /** The agent asks people, who are reminded if nobody answers. */
  questions: z.boolean().default(false),
  /** People ask finished questions again, in new threads. */
  again: z.boolean().default(false),
  /** People save the records of tasks. */
  records: z.boolean().default(false),
  /** The agent cites works, registries are asked about them, and people have retracted ones replaced. */
  sources: z.boolean().default(false),
  /** Bot processes on one database. */
  replicas: z.coerce.number().int().min(1).max(8).default(1),
  /** No process can prove the death of another, as on hosts of their own. */
  'other-hosts': z.boolean().default(false),
  /** How events reach the bot; `http` goes through a load balancer. */
  transport: z.enum(['http', 'socket']).optional(),
  /** The longest that the agent service takes for a call (s). */
  delay: z.coerce.number().min(0).max(60).default(30),
  /** Folder for the bot's logs; by default a temporary one that is kept only if there is damage. */
  logs: z.string().min(1).optional(),
});
type Parsed = z.output<typeof schema>;

/** The options of a run that kills the bot. */
export interface ChaosOptions
  extends Partial<Pick<Parsed, Extra>>,
    Pick<Parsed, 'seed' | 'replicas' | 'delay'>,
    Required<Pick<Parsed, 'logs' | 'transport'>> {
  kills: number;
  transport: 'http' | 'socket';
  databaseFaultSeconds?: number | undefined;
  networkFaultSeconds?: number | undefined;
  tls?: boolean;
  otherHosts?: boolean;
}

/** The options of a run with things that stay bad. */
export interface PoisonOptions extends Pick<ChaosOptions, 'seed' | 'logs'> {
  poison: true;
}

export const CHAOS_USAGE =
  'npm run chaos -- --kills N --seed S [--database SECONDS] [--network SECONDS] [--tls] [--workflows] [--streams] [--questions] [--again] [--records] [--sources] [--replicas R] [--other-hosts] [--transport http|socket] [--delay SECONDS] [--logs FOLDER]\n' +
  '       npm run chaos -- --poison S [--logs FOLDER]';

/** Parses the arguments after the script's name. @throws UsageError */
export function parseChaosOptions(args: readonly string[]): ChaosOptions | PoisonOptions {
  const {
    transport,
    logs,
    database,
    network,
    kills,
    poison,
    'other-hosts': otherHosts,
    ...rest
  } = runOptions(CHAOS_USAGE, args, schema);
  if (poison !== undefined) return { poison: true, seed: poison, logs };
  return {
    ...rest,
    kills: kills ?? ((database ?? network) === undefined ? DEFAULT_KILLS : 0),
    databaseFaultSeconds: database,
    networkFaultSeconds: network,
    otherHosts,
    transport: transport ?? (rest.replicas > 1 ? 'socket' : 'http'),
    logs,
  };
}
