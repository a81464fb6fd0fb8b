import { join } from 'node:path';
import { type AgentService, type AgentServiceOptions, startAgentService } from './agent/agent-service.ts';
import { limitsSetting, oauthSettings, serviceSettings, UNLIMITED_QUOTAS } from './bot-settings.ts';
import { startRegistryService } from './registry-service.ts';
import { type SlackWorkspaceOptions, startSlackWorkspace } from './slack/slack-workspace.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { type Certificate, certify } from './tls-front.ts';

/** The two services and the bot's settings for them. */
export interface SandboxServicesOptions {
  slack?: SlackWorkspaceOptions;
  agent?: AgentServiceOptions;
  /** Stores file contents in a real S3 server instead of a folder. */
  s3?: boolean;
  /** Everything is reached by TLS, with a certificate of its own, and offers HTTP/2. */
  tls?: boolean;
  /** How events reach the bot; `socket` by default. */
  transport?: 'socket' | 'http';
  /** Workspaces install the app by OAuth: the settings contain no bot token. */
  oauth?: boolean;
  /** By default the bot runs its own database in a temporary folder. */
  databaseUrl?: string | undefined;
  /** Further settings; they take precedence. */
  settings?: Record<string, string>;
}

/** A Slack workspace and an agent service on this machine, with the settings that connect a bot to them. */
export type SandboxServices = Awaited<ReturnType<typeof startSandboxServices>>;

/** Starts both on free ports of 127.0.0.1; disposing `undo` stops them and removes everything. */
export async function startSandboxServices(options: SandboxServicesOptions, undo: AsyncDisposableStack) {
  const folder = await temporaryFolder(undo);
  const { certificate, settings: trusting } = options.tls === true ? await certify(folder) : {};
  const slack = await startSlackWorkspace({
    ...options.slack,
    reach: { certificate, ...options.slack?.reach },
  });
  undo.defer(() => slack.stop());
  const agent = await startAgent(options, certificate, folder, undo);
  const registry = options.settings?.CHECK_SOURCES === undefined ? undefined : await startRegistryService();
  if (registry !== undefined) undo.defer(() => registry.stop());
  const settings: Record<string, string> = {
    ...(options.oauth === true ? oauthSettings(slack) : { SLACK_BOT_TOKEN: slack.botToken }),
    ...serviceSettings(slack, agent, options.transport ?? 'socket'),
    ...(registry && limitsSetting({ registries: registry.addresses })),
    ACCOUNT_HOSTS: '127.0.0.1',
    ...(options.databaseUrl === undefined ? {} : { DATABASE_URL: options.databaseUrl }),
    DATA_FOLDER: join(folder, 'data'),
    ...UNLIMITED_QUOTAS,
    ...trusting,
    ...options.settings,
  };
  /** `folder` is a temporary one, removed at the end. */
  return { slack, agent, registry, settings, folder };
}

async function startAgent(
  options: SandboxServicesOptions,
  certificate: Certificate | undefined,
  folder: string,
  undo: AsyncDisposableStack,
): Promise<AgentService> {
  let storage = options.agent?.storage;
  if (options.s3 === true) {
    // A hundred modules that few need.
    const { startS3 } = await import('./agent/s3-server.ts');
    const s3 = await startS3({ folder: join(folder, 's3'), certificate });
    undo.defer(() => s3.stop());
    storage = { s3 };
  }
  const agent = await startAgentService({
    ...options.agent,
    reach: { certificate, ...options.agent?.reach },
    ...(storage === undefined ? {} : { storage }),
  });
  undo.defer(() => agent.stop());
  return agent;
}
