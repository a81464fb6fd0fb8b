import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { startApp, type TaskthreadApp } from '../app.ts';
import { type Config, readConfig } from '../config.ts';
import { startS3 } from './agent/s3.ts';
import { type AgentService, type AgentServiceOptions, startAgentService } from './agent/service.ts';
import { type SlackWorkspace, type SlackWorkspaceOptions, startSlackWorkspace } from './slack/workspace.ts';

/** What a stage is made of. */
export interface StageOptions {
  log: Logger;
  slack?: SlackWorkspaceOptions;
  agent?: AgentServiceOptions;
  /** Bytes lie in a real S3 server; in a folder when left out. */
  s3?: boolean;
  /** Events come by Socket Mode when left out. */
  transport?: 'socket' | 'http';
  /** A database of its own under a temporary folder when left out. */
  databaseUrl?: string;
  /** Settings beside those that the stage makes. */
  settings?: Record<string, string>;
}

/** A Slack workspace, an agent service and the bot between them, on this machine. */
export interface Stage {
  readonly slack: SlackWorkspace;
  readonly agent: AgentService;
  readonly bot: TaskthreadApp;
  readonly config: Config;
  /** Ends the bot and starts it again on the same database. */
  restartBot(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts everything on free ports of 127.0.0.1; `stop` leaves nothing behind. */
export async function setStage(options: StageOptions): Promise<Stage> {
  const undo: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const folder = await mkdtemp(join(tmpdir(), 'taskthread-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));
    // Where we are root, the database's own user must get to its folder.
    await chmod(folder, 0o711);
    const slack = await startSlackWorkspace(options.slack ?? {});
    undo.push(() => slack.stop());
    const agent = await startAgent(options, folder, undo);
    const transport = options.transport ?? 'socket';
    const config = readConfig({
      SLACK_BOT_TOKEN: slack.botToken,
      ...(transport === 'socket'
        ? { SLACK_APP_TOKEN: slack.appToken }
        : { SLACK_SIGNING_SECRET: slack.signingSecret }),
      SLACK_API_URL: slack.apiUrl,
      AGENT_BASE_URL: agent.url,
      AGENT_API_KEY: agent.apiKey,
      PRIVATE_HOSTS: '127.0.0.1',
      ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
      DATA_FOLDER: join(folder, 'data'),
      PORT: '0',
      HOST: '127.0.0.1',
      ...options.settings,
    });
    let bot = await startBot(config, options, slack);
    undo.push(() => bot.stop());
    return {
      slack,
      agent,
      config,
      get bot() {
        return bot;
      },
      restartBot: async () => {
        await bot.stop();
        bot = await startBot(config, options, slack);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startAgent(
  options: StageOptions,
  folder: string,
  undo: (() => Promise<unknown>)[],
): Promise<AgentService> {
  if (options.s3 !== true) {
    const agent = await startAgentService(options.agent ?? {});
    undo.push(() => agent.stop());
    return agent;
  }
  const s3 = await startS3({ folder: join(folder, 's3') });
  undo.push(() => s3.stop());
  const agent = await startAgentService({ ...options.agent, storage: { s3 } });
  undo.push(() => agent.stop());
  return agent;
}

async function startBot(
  config: Config,
  options: StageOptions,
  slack: SlackWorkspace,
): Promise<TaskthreadApp> {
  const bot = await startApp(config, options.log);
  if (options.transport === 'http') {
    await slack.useHttp({ eventsUrl: `http://127.0.0.1:${bot.port}/slack/events` });
  }
  return bot;
}
