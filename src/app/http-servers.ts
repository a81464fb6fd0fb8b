import { HealthServer, type HealthServerDeps } from '../operate/http-server.ts';
import { linkFinder, RESULTS_PATH, resolveResult } from '../relay/replies/lasting-links.ts';
import type { Intake } from './intake.ts';
import { describePortError } from './start-checks.ts';
import type { AppContext, Storage } from './storage.ts';
import type { Turns } from './turns.ts';
import type { Workspaces } from './workspaces.ts';

/** Builds what this process serves by HTTP: health, metrics, result links and Slack's requests. */
export function createPages(
  { config, log, telemetry }: AppContext,
  { database }: Storage,
  { installations, accounts, own }: Workspaces,
  { deps, links, dispatcher }: Turns,
  { slackApp }: Intake,
): Pages {
  const find = links && linkFinder(links, (...asked) => resolveResult(deps, ...asked));
  return new Pages({
    config,
    log,
    metrics: () => telemetry.metrics.scrape(),
    results: find && { path: RESULTS_PATH, find },
    fallback: slackApp.requestListener,
    findTrouble: async () => (await database.findTrouble()) ?? dispatcher.trouble,
    report: () => ({
      ...(own === undefined ? { workspaces: installations.ids().length } : { workspace: own.id }),
      turns: dispatcher.heldJobCount,
      slackTokenRefusedSince: installations.tokenRefusedSince() ?? null,
      agentKeyRefusedSince: accounts.keyRefusedSince() ?? null,
      events: slackApp.socketMode === undefined ? 'http' : 'socket',
      ...(slackApp.socketMode && { sockets: slackApp.socketMode.state }),
      ...telemetry.report(),
    }),
  });
}

type PagesDeps = Omit<HealthServerDeps, 'draining'> & Pick<AppContext, 'config' | 'log'>;

class Pages {
  /** The port, once started. */
  port = 0;
  draining = false;
  readonly #deps: PagesDeps;
  readonly #servers = new AsyncDisposableStack();

  constructor(deps: PagesDeps) {
    this.#deps = deps;
  }

  /** Listens on PORT, and on METRICS_PORT if that is another one. Throws a ConfigError if PORT cannot be opened. */
  async start(): Promise<void> {
    const { config, log, metrics, results, fallback } = this.#deps;
    const { PORT, METRICS_PORT } = config;
    const isShared = METRICS_PORT === PORT;
    const serving = this.#serve(PORT, { results, fallback, metrics: isShared ? metrics : undefined });
    this.port = await serving.catch((error: unknown) => {
      throw describePortError(error, config);
    });
    if (isShared) return;
    await this.#serve(METRICS_PORT, { metrics }).catch((error: unknown) =>
      log.warn(
        { err: error, port: METRICS_PORT },
        'no metrics: the port cannot be opened; set METRICS_PORT to a free one',
      ),
    );
  }

  async stop(): Promise<void> {
    await this.#servers.disposeAsync();
  }

  async #serve(port: number, more: Pick<HealthServerDeps, 'results' | 'fallback' | 'metrics'>) {
    const { findTrouble, report } = this.#deps;
    const server = new HealthServer({ findTrouble, report, draining: () => this.draining, ...more });
    const openPort = await server.start(port, this.#deps.config.HOST);
    this.#servers.defer(() => server.stop());
    return openPort;
  }
}
