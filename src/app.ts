import type { Logger } from 'pino';
import { createBackground } from './app/background.ts';
import { connectFeatures, createFeatures } from './app/features.ts';
import { createPages } from './app/http-servers.ts';
import { createIntake } from './app/intake.ts';
import { identifyBot } from './app/start-checks.ts';
import { type AppOverrides, openStorage } from './app/storage.ts';
import { createControls, createTurns } from './app/turns.ts';
import { CREDENTIAL_SETTINGS, openWorkspaces } from './app/workspaces.ts';
import type { Config } from './config/environment-and-secret-files.ts';
import { RELAY_LIMITS } from './limits.ts';
import { Telemetry } from './operate/telemetry.ts';
import { largestFile, messagesLeft } from './relay/access/quotas.ts';
import { WORKFLOW_STEP } from './relay/runtime/incoming-message.ts';
import { JOB_KIND } from './store/jobs/jobs.ts';
import { readStats } from './store/stats.ts';
import type { Store } from './store/store.ts';

export type { AppOverrides } from './app/storage.ts';

export interface TaskthreadApp {
  /** The port of /healthz and, with events by HTTP, of /slack/events. */
  readonly port: number;
  readonly store: Store;
  /** Settles when the embedded database is lost; the process should then end. */
  readonly lost: Promise<Error>;
  /** Stops receiving events, hands the turns over and closes everything; then rejects if anything failed. */
  stop(): Promise<void>;
}

/**
 * Builds the app, each part from those before it, and starts it. Throws a ConfigError, a StoreError or a SlackError that says
 * what to fix.
 */
export async function startApp(
  config: Config,
  log: Logger,
  overrides: AppOverrides = {},
): Promise<TaskthreadApp> {
  await using cleanup = new AsyncDisposableStack();
  const telemetry = new Telemetry(log, overrides.droppedLines);
  const limits = { ...RELAY_LIMITS, ...overrides.limits };
  const context = { config, limits, log, telemetry, overrides };
  const storage = await openStorage(context, cleanup);
  const identity = await identifyBot(config, log);
  const workspaces = await openWorkspaces(context, storage, identity, cleanup);
  const turns = createTurns(context, storage, workspaces);
  const controls = createControls(turns, storage);
  const features = createFeatures(context, storage, workspaces, turns);
  const intake = createIntake(context, storage, workspaces, turns, controls, features);
  connectFeatures(intake.slackApp, turns, controls, features);
  const findTrouble = async () =>
    (await storage.database.findTrouble()) ?? turns.jobs.trouble ?? intake.eventIntake.trouble;
  const pages = createPages(context, findTrouble, workspaces, turns, intake);
  const { installations, accounts } = workspaces;
  const { socketMode } = intake.slackApp;
  telemetry.watch({
    stats: () => readStats(storage.database.kysely, WORKFLOW_STEP),
    messagesLeft: (begun) => messagesLeft(turns.deps.settings.quotas, begun),
    largestFile: largestFile(turns.deps.settings),
    heldThreads: () => turns.jobs.count(JOB_KIND.turn),
    findTrouble,
    rejectedSettings: () => [
      ...(installations.tokenRefusedSince() === undefined ? [] : [CREDENTIAL_SETTINGS.token]),
      ...(accounts.keyRefusedSince() === undefined ? [] : [CREDENTIAL_SETTINGS.key]),
    ],
    deafWorkspaces: () => intake.gapDetector.deafWorkspaces,
    slackConnections: () => socketMode?.state,
    rejectedWorkspaceCredentials: () => ({
      token: installations.refusedOwnTokenCount(),
      key: accounts.refusedOwnKeyCount(),
    }),
    missingScopes: () => installations.missingScopes(),
  });
  const workers = createBackground(context, storage, workspaces, turns, controls, features, intake);
  for (const source of workspaces.refreshables) await source.refresh(true);
  // They stop in reverse order.
  for (const part of [pages, workers]) {
    cleanup.defer(() => part.stop());
    await part.start?.();
  }
  const events = socketMode === undefined ? 'http' : 'socket';
  log.info({ workspaces: installations.ids().length, port: pages.port, events }, 'taskthread is running');
  const all = cleanup.move();
  return {
    port: pages.port,
    store: storage.store,
    lost: storage.lost,
    stop: async () => {
      pages.draining = true;
      await all.disposeAsync();
    },
  };
}
