import { HealthServer, type HealthServerDeps } from '../operate/http-server.ts';
import { linkFinder, RESULTS_PATH, resolveResult } from '../relay/replies/lasting-links.ts';
import { JOB_KIND } from '../store/jobs/jobs.ts';
import type { Intake } from './intake.ts';
import { describePortError } from './listening-port.ts';
import type { AppContext } from './storage.ts';
import type { Turns } from './turns.ts';
import type { Workspaces } from './workspaces.ts';

/**
 * What this process serves by HTTP: health, metrics, result links and Slack's requests. It listens on PORT, and on METRICS_PORT
 * if that is another one.
 */
export function createPages(
  { config, log, telemetry }: AppContext,
  findTrouble: HealthServerDeps['findTrouble'],
  { installations, accounts, own }: Workspaces,
  { deps, links, jobs }: Turns,
  { slackApp }: Intake,
) {
  const { PORT, METRICS_PORT, HOST } = config;
  const find = links && linkFinder(links, (...asked) => resolveResult(deps, ...asked));
  const metrics = () => telemetry.scrape();
  const isShared = METRICS_PORT === PORT;
  const servers = new AsyncDisposableStack();
  const serve = async (
    port: number,
    served: Pick<HealthServerDeps, 'results' | 'fallback' | 'metrics'>,
  ): Promise<number> => {
    const server = new HealthServer({
      findTrouble,
      draining: () => pages.draining,
      report: () => ({
        ...(own === undefined ? { workspaces: installations.ids().length } : { workspace: own.id }),
        turns: jobs.count(JOB_KIND.turn),
        slackTokenRefusedSince: installations.tokenRefusedSince() ?? null,
        agentKeyRefusedSince: accounts.keyRefusedSince() ?? null,
        events: slackApp.socketMode === undefined ? 'http' : 'socket',
        ...(slackApp.socketMode && { sockets: slackApp.socketMode.state }),
        ...telemetry.report(),
      }),
      ...served,
    });
    const openPort = await server.start(port, HOST);
    servers.defer(() => server.stop());
    return openPort;
  };
  const pages = {
    /** The port, once started. */
    port: 0,
    draining: false,
    /** Throws a ConfigError if PORT cannot be opened. */
    start: async (): Promise<void> => {
      const results = find && { path: RESULTS_PATH, find };
      const served = { results, fallback: slackApp.requestListener, ...(isShared && { metrics }) };
      pages.port = await serve(PORT, served).catch((error: unknown) => {
        throw describePortError(error, config);
      });
      if (isShared) return;
      await serve(METRICS_PORT, { metrics }).catch((error: unknown) =>
        log.warn(
          { err: error, port: METRICS_PORT },
          'no metrics: the port cannot be opened; set METRICS_PORT to a free one',
        ),
      );
    },
    stop: () => servers.disposeAsync(),
  };
  return pages;
}
