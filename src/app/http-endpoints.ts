import { createServer } from 'node:net';
import type { Logger } from 'pino';
import { type Config, refusedSetting } from '../config.ts';
import type { SlackApp } from '../listeners/slack-app.ts';
import { createResultLinkRoute, HealthServer, type HealthServerDeps } from '../operate/http-server.ts';
import type { Telemetry } from '../operate/telemetry.ts';
import type { WorkspaceRegistry } from '../relay/installations/installed-workspaces.ts';
import type { ServiceAccounts } from '../relay/installations/service-accounts.ts';
import { RESULTS_PATH, type ResultLinkAccess } from '../relay/replies/result-links.ts';
import type { Dispatcher } from '../relay/turns/dispatcher.ts';
import type { Database } from '../store/database.ts';

export interface HttpEndpointsDeps {
  config: Config;
  log: Logger;
  database: Database;
  installations: WorkspaceRegistry;
  accounts: ServiceAccounts;
  dispatcher: Dispatcher;
  telemetry: Telemetry;
  slackApp: SlackApp;
  /** Finds the file of a result link; undefined if the app makes no such links. */
  findResult: ResultLinkAccess['find'] | undefined;
  /** The workspace of SLACK_BOT_TOKEN; undefined if workspaces install the app by OAuth. */
  workspace: string | undefined;
}

/** Fails at once where PORT cannot be opened, before a start waits for anything else. Throws a ConfigError. */
export async function requireFreePort({ PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(describePortError(error, { PORT, HOST })));
    server.listen(PORT, HOST, () => server.close(() => resolve()));
  });
}

function describePortError(error: unknown, { PORT, HOST }: Pick<Config, 'PORT' | 'HOST'>): unknown {
  switch (error instanceof Error && 'code' in error && error.code) {
    case 'EADDRINUSE':
      return refusedSetting('PORT', `another program uses ${PORT}`);
    case 'EACCES':
      return refusedSetting('PORT', `this user may not open ${PORT}`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return refusedSetting('HOST', `${HOST} is not an address of this machine`);
    default:
      return error;
  }
}

/** What this process serves by HTTP: health, metrics, result links and Slack's requests. */
export class HttpEndpoints {
  /** The port, once started. */
  port = 0;
  draining = false;
  readonly #deps: HttpEndpointsDeps;
  readonly #servers = new AsyncDisposableStack();

  constructor(deps: HttpEndpointsDeps) {
    this.#deps = deps;
  }

  /** Listens on PORT, and on METRICS_PORT if that is another one. Throws a ConfigError if PORT cannot be opened. */
  async start(): Promise<void> {
    const { slackApp, findResult } = this.#deps;
    const { PORT, METRICS_PORT } = this.#deps.config;
    const metrics = () => this.#deps.telemetry.metrics.scrape();
    const slack = slackApp.requestListener;
    const fallback = findResult ? createResultLinkRoute(RESULTS_PATH, findResult, slack) : slack;
    const isShared = METRICS_PORT === PORT;
    const serving = this.#serve(PORT, { fallback, metrics: isShared ? metrics : undefined });
    this.port = await serving.catch((error: unknown) => {
      throw describePortError(error, this.#deps.config);
    });
    if (isShared) return;
    await this.#serve(METRICS_PORT, { fallback: undefined, metrics }).catch((error: unknown) =>
      this.#deps.log.warn(
        { err: error, port: METRICS_PORT },
        'no metrics: the port cannot be opened; set METRICS_PORT to a free one',
      ),
    );
  }

  async stop(): Promise<void> {
    await this.#servers.disposeAsync();
  }

  async #serve(port: number, more: Pick<HealthServerDeps, 'fallback' | 'metrics'>): Promise<number> {
    const { database, dispatcher } = this.#deps;
    const server = new HealthServer({
      findTrouble: async () => (await database.findTrouble()) ?? dispatcher.trouble,
      draining: () => this.draining,
      report: () => this.#report(),
      ...more,
    });
    const openPort = await server.start(port, this.#deps.config.HOST);
    this.#servers.defer(() => server.stop());
    return openPort;
  }

  #report(): Record<string, unknown> {
    const { workspace, installations, dispatcher, accounts, slackApp, telemetry } = this.#deps;
    return {
      ...(workspace === undefined ? { workspaces: installations.ids().length } : { workspace }),
      turns: dispatcher.heldJobCount,
      slackTokenRefusedSince: installations.tokenRefusedSince() ?? null,
      agentKeyRefusedSince: accounts.keyRefusedSince() ?? null,
      events: slackApp.socketMode === undefined ? 'http' : 'socket',
      ...(slackApp.socketMode && { sockets: slackApp.socketMode.state }),
      ...telemetry.report(),
    };
  }
}
