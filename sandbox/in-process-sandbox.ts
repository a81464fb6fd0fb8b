import type { Logger } from 'pino';
import { type AppOverrides, startApp, type TaskthreadApp } from '../src/app.ts';
import { type Config, readConfig } from '../src/config/environment-and-secret-files.ts';
import { SANDBOX_LIMITS } from './bot-settings.ts';
import { givenDatabaseUrl } from './postgres-server.ts';
import { type SandboxServicesOptions, startSandboxServices } from './sandbox-services.ts';
import type { SlackWorkspace } from './slack/slack-workspace.ts';

/** Minutes at Slack (ms): a token must be refused twice before its installation ends. */
const CONFIRM_AFTER_MS = 200;

/** `limits` and `probeMs` replace the app's own; `onTurnStep` hears of each step of a turn. */
export interface InProcessSandboxOptions
  extends SandboxServicesOptions,
    Pick<AppOverrides, 'limits' | 'onTurnStep' | 'probeMs'> {
  log: Logger;
}

/** A Slack workspace, an agent service and the bot between them, all in this process. */
export type InProcessSandbox = Awaited<ReturnType<typeof startInProcessSandbox>>;

/** Starts all three on free ports of 127.0.0.1; `stop` removes everything. */
export async function startInProcessSandbox(options: InProcessSandboxOptions) {
  await using undo = new AsyncDisposableStack();
  const databaseUrl = options.databaseUrl ?? (await givenDatabaseUrl(undo));
  const { slack, agent, registry, settings } = await startSandboxServices({ ...options, databaseUrl }, undo);
  const config = readConfig(settings);
  const limits = { ...(registry && { registries: registry.addresses }), ...options.limits };
  let bot = await startBot(config, { ...options, limits }, slack);
  undo.defer(() => bot.stop());
  const all = undo.move();
  return {
    slack,
    agent,
    /** Undefined unless CHECK_SOURCES is set. */
    registry,
    /** The bot's settings, as a process of its own would get them. */
    settings,
    config,
    get bot() {
      return bot;
    },
    /** Stops the bot and starts it again on the same database. */
    restartBot: async () => {
      await bot.stop();
      bot = await startBot(config, { ...options, limits }, slack);
    },
    stop: () => all.disposeAsync(),
  };
}

async function startBot(
  config: Config,
  options: InProcessSandboxOptions,
  slack: SlackWorkspace,
): Promise<TaskthreadApp> {
  const { log, onTurnStep, probeMs } = options;
  const limits = { ...SANDBOX_LIMITS, ...options.limits };
  const bot = await startApp(config, log, { confirmAfterMs: CONFIRM_AFTER_MS, limits, onTurnStep, probeMs });
  if (options.transport === 'http') {
    await slack.useHttp({ eventsUrl: `http://127.0.0.1:${bot.port}/slack/events` });
  }
  return bot;
}
