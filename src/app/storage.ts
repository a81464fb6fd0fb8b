import type { Logger } from 'pino';
import type { CredentialGateOptions } from '../calls/credential-gate.ts';
import { within } from '../calls/retries-and-waits.ts';
import type { Config } from '../config/environment-and-secret-files.ts';
import type { RelayLimits } from '../limits.ts';
import type { Telemetry } from '../operate/telemetry.ts';
import { startEmbeddedServer } from '../postgres/embedded-server.ts';
import { type Database, openDatabase } from '../store/database.ts';
import { ProcessLock } from '../store/processes/process-lock.ts';
import { ProcessRegistry } from '../store/processes/process-registry.ts';
import { Store } from '../store/store.ts';
import type { OnStep } from '../store/threads/turn-steps.ts';
import { Keyring } from '../store/workspaces/encryption.ts';

/** The longest that a stop waits to be forgotten as a process (ms). */
const LEAVE_TIMEOUT_MS = 1_000;

/** What tests and measurements change about the app. */
export interface AppOverrides extends Pick<CredentialGateOptions, 'probeMs'> {
  /** Called for each of the app's database pools. */
  store?: (db: Database['kysely']) => Store;
  /** Called for each step of a turn, which its transaction may still take back. */
  onTurnStep?: OnStep | undefined;
  /** Keeps a secret that isn't a setting out of the log until the returned function is called. */
  onSecret?: (secret: string) => () => void;
  /** How many lines the log has lost. */
  droppedLines?: () => number;
  /** The time between the two refusals of a token that end its installation (ms). */
  confirmAfterMs?: number;
  limits?: Partial<RelayLimits> | undefined;
}

/** What each part of the app is built with. */
export interface AppContext {
  readonly config: Config;
  readonly limits: RelayLimits;
  readonly log: Logger;
  readonly telemetry: Telemetry;
  readonly overrides: AppOverrides;
}

export type Storage = Awaited<ReturnType<typeof openStorage>>;

/**
 * Opens the database, for which it starts the embedded server if it has no address, `cleanup` closes them. Throws a
 * StoreError or an EmbeddedServerError, which say how to fix it.
 */
export async function openStorage(
  { config, log, telemetry, overrides }: AppContext,
  cleanup: AsyncDisposableStack,
) {
  const { DATABASE_URL: url, DATABASE_DIRECT_URL: directUrl, DATABASE_CONNECTIONS: maxConnections } = config;
  const embedded =
    url === undefined ? await startEmbeddedServer({ folder: config.DATA_FOLDER, log }) : undefined;
  if (embedded !== undefined) cleanup.defer(() => embedded.stop());
  const database = await openDatabase({ url, directUrl, embedded, maxConnections, log });
  cleanup.defer(() => database.close());
  const keyring = config.SECRET_KEY && new Keyring(config.SECRET_KEY);
  const onTurnStep: OnStep = (...step) => {
    telemetry.onTurnStep(...step);
    overrides.onTurnStep?.(...step);
  };
  const storeOn = (db: Database['kysely']) => overrides.store?.(db) ?? new Store(db, onTurnStep, keyring);
  const store = storeOn(database.kysely);
  const processes = new ProcessRegistry(database.leaseKysely);
  const holder = new ProcessLock({ registry: processes, createClient: database.createClient, log });
  const leave = async () => {
    const left = Promise.all([holder.stop(), processes.remove([holder.id])]);
    // Where the database does not answer, others find this process dead.
    await within(LEAVE_TIMEOUT_MS, left, undefined).catch(() => undefined);
  };
  cleanup.defer(leave);
  // We hold the embedded server's lock, so any process that held jobs or connections there has ended.
  if (embedded !== undefined) await Promise.all([store.socketLeases.releaseAll(), store.jobs.releaseHeld()]);
  await processes.enter(holder.id);
  // The embedded server has no other process.
  if (embedded === undefined) holder.start();
  const takeOver = async (dead: readonly string[]) => {
    const jobs = dead.length === 0 ? 0 : await store.jobs.releaseHeld(dead);
    if (jobs > 0) log.info({ jobs }, 'took over from dead processes');
  };
  const dead = await processes.findDead();
  await takeOver(dead);
  await processes.remove(dead);
  return {
    database,
    /** Undefined without SECRET_KEY. */
    keyring,
    store,
    /** For what Slack waits for. */
    ackStore: storeOn(database.ackKysely),
    leaseStore: storeOn(database.leaseKysely),
    /** Whose jobs are this process's. */
    holder,
    /** Takes over from processes that have been unlocked for long enough. Throws a StoreError. */
    takeOverUnlocked: async (unlocked: readonly string[]) => takeOver(await processes.takeUnlocked(unlocked)),
    /** Settles when the embedded database is lost. */
    lost: embedded?.lost ?? new Promise<Error>(() => undefined),
  };
}
