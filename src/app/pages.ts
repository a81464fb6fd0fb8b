import type { RequestListener } from 'node:http';
import type { Config } from '../config.ts';
import type { SlackApp, Transport } from '../listen/slack-app.ts';
import { type HealthParts, HealthServer } from '../operate/health.ts';
import { resultRoute } from '../operate/result-route.ts';
import type { Watch } from '../operate/watch.ts';
import type { ServiceAccounts } from '../relay/accounts/service-accounts.ts';
import type { RelayParts } from '../relay/context.ts';
import type { Dispatcher } from '../relay/dispatcher.ts';
import type { Installed } from '../relay/installing/installed.ts';
import { destinationOf, type ResultLinks, resultsPath } from '../relay/showing/result-links.ts';
import type { Database } from '../store/database.ts';

/** What the pages tell of, and what is served beside them. */
export interface PagesParts {
  config: Config;
  database: Database;
  installed: Installed;
  accounts: ServiceAccounts;
  dispatcher: Dispatcher;
  watch: Watch;
  slackApp: SlackApp;
  events: Transport['kind'];
  relay: RelayParts;
  links: ResultLinks | undefined;
  /** The workspace of the settings' token; undefined where many install the app. */
  workspace: string | undefined;
}

/** What this process serves by HTTP: its pages, links of ours to results, and Slack's requests. */
export class Pages {
  /** Where all of it is, once it has started. */
  port = 0;
  /** Whether the process hands its turns over. */
  draining = false;
  readonly #parts: PagesParts;
  readonly #servers = new AsyncDisposableStack();

  constructor(parts: PagesParts) {
    this.#parts = parts;
  }

  /** Figures have a port of their own where the settings name one. Throws where a port is taken. */
  async start(): Promise<void> {
    const { PORT, METRICS_PORT } = this.#parts.config;
    const metrics = this.#parts.watch.page;
    const fallback = this.#others();
    this.port = await this.#serve(PORT, METRICS_PORT === undefined ? { fallback, metrics } : { fallback });
    if (METRICS_PORT !== undefined) await this.#serve(METRICS_PORT, { fallback: undefined, metrics });
  }

  async stop(): Promise<void> {
    await this.#servers.disposeAsync();
  }

  async #serve(port: number, more: Pick<HealthParts, 'fallback' | 'metrics'>): Promise<number> {
    const { pool } = this.#parts.database;
    const server = new HealthServer({
      database: async () =>
        pool.query('select 1').then(
          () => true,
          () => false,
        ),
      draining: () => this.draining,
      report: () => this.#report(),
      ...more,
    });
    const taken = await server.start(port, this.#parts.config.HOST);
    this.#servers.defer(() => server.stop());
    return taken;
  }

  /** What is no page of the process's own. */
  #others(): RequestListener | undefined {
    const { slackApp, relay, links } = this.#parts;
    if (links === undefined) return slackApp.requestListener;
    return resultRoute(resultsPath, (token) => destinationOf(relay, links, token), slackApp.requestListener);
  }

  #report(): Record<string, unknown> {
    const { workspace, installed, dispatcher, accounts, events, slackApp, watch } = this.#parts;
    return {
      ...(workspace === undefined ? { workspaces: installed.ids().length } : { workspace }),
      turns: dispatcher.held,
      slackTokenRefusedSince: installed.refusedSince() ?? null,
      agentKeyRefusedSince: accounts.refusedSince() ?? null,
      events,
      ...(slackApp.connections && { sockets: slackApp.connections }),
      ...watch.report(),
    };
  }
}
