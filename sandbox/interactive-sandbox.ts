import { join } from 'node:path';
import type { AgentService } from './agent/agent-service.ts';
import { compileCacheSettings } from './bot-process.ts';
import { OAUTH_SECRET_KEY } from './bot-settings.ts';
import { BotSupervisor } from './bot-supervisor.ts';
import type { ManifestCommands } from './page/manifest-commands.ts';
import { startPageServer } from './page/page-server.ts';
import { givenDatabaseUrl } from './postgres-server.ts';
import { type SandboxServicesOptions, startSandboxServices } from './sandbox-services.ts';
import type { SlackWorkspace } from './slack/slack-workspace.ts';

export interface InteractiveSandboxOptions extends Omit<SandboxServicesOptions, 'transport'> {
  /** TCP ports for the page on 127.0.0.1; the first free one is used. 0, the default, means any. */
  ports?: number[];
  /** Commands and shortcuts on the page; those of manifest.yml by default. */
  manifestCommands?: ManifestCommands;
  /** Whether to start a bot (default true); without one, another bot can connect to the workspace. */
  bot?: boolean;
}

/** A workspace in the browser, with the bot as a child process. */
export type InteractiveSandbox = Awaited<ReturnType<typeof startInteractiveSandbox>>;

/** Starts everything with some people and channels; `stop` removes it all. */
export async function startInteractiveSandbox(options: InteractiveSandboxOptions = {}) {
  await using cleanup = new AsyncDisposableStack();
  const databaseUrl = options.databaseUrl ?? (await givenDatabaseUrl(cleanup));
  const withRegistries = { ...CHECKED_SOURCES, ...options.settings };
  const services = await startSandboxServices({ ...options, databaseUrl, settings: withRegistries }, cleanup);
  const { slack, agent, registry, folder } = services;
  const settings = { ...services.settings, ...everythingOffered(agent), ...options.settings };
  addPeopleAndChannels(slack);
  let bot: BotSupervisor | undefined;
  if (options.bot !== false) {
    const compiled = await compileCacheSettings(join(folder, 'compiled'));
    const supervisor = new BotSupervisor({ ...settings, ...compiled }, join(folder, 'bot.log'));
    cleanup.defer(() => supervisor.stop());
    await supervisor.start();
    bot = supervisor;
  }
  const { ports = [0], manifestCommands } = options;
  const page = await startPageServer({ slack, agent, registry, bot, ports, manifestCommands });
  cleanup.defer(() => page.stop());
  const all = cleanup.move();
  return { slack, agent, registry, bot, page, settings, stop: () => all.disposeAsync() };
}

/** The settings with which the registries of the sandbox are asked about the sources of an answer. */
const CHECKED_SOURCES = { CHECK_SOURCES: 'crossref,pubmed', CHECK_SOURCES_MAILTO: 'someone@example.org' };

/** The settings without which people cannot try plans, standing instructions, prompts and accounts. */
function everythingOffered({ behaviour }: Pick<AgentService, 'behaviour'>): Record<string, string> {
  const dialect = { leastPartBytes: behaviour.minPartSize, planModeField: 'plan_mode' };
  return { AGENT_DIALECT: JSON.stringify(dialect), SECRET_KEY: OAUTH_SECRET_KEY };
}

/** Adds people and channels of every kind that the bot treats differently. */
function addPeopleAndChannels(slack: SlackWorkspace): void {
  const ada = slack.createPerson({ name: 'ada', realName: 'Ada' });
  const grace = slack.createPerson({ name: 'grace', realName: 'Grace' });
  slack.createPerson({ name: 'max', realName: 'Max', kind: 'guest' });
  slack.createPerson({ name: 'rosa', realName: 'Rosa (admin)', admin: true });
  slack.createChannel({ name: 'sequencing', purpose: 'Runs of the week' });
  slack.createChannel({ name: 'reading-club', purpose: 'One paper every Thursday' });
  slack.createChannel({ name: 'coffee', purpose: 'Small talk', bot: false });
  slack.createChannel({ name: 'assay-42', purpose: 'Not public yet', private: true, members: [ada, grace] });
  slack.openGroupDm([ada, grace]);
  for (const person of slack.team.people.values()) if (person.kind !== 'bot') slack.openDm(person);
}
