import { createServer } from 'node:http';
import { Faults } from '../faults.ts';
import { listenBehind, type Reachable } from '../reach.ts';
import { InteractionActions } from './actions/interaction-actions.ts';
import { appLevelToken, signingSecretOf } from './app-installation.ts';
import { AppRegistration } from './app-registration.ts';
import type { Delivery, DeliveryOutcome } from './deliveries.ts';
import { HttpEvents } from './http-events.ts';
import { agentMethods, type ThreadStatus } from './methods/agents.ts';
import { appManifestMethods } from './methods/app-manifests.ts';
import { chatMethods } from './methods/chat.ts';
import { conversationMethods } from './methods/conversations.ts';
import { fileMethods } from './methods/files.ts';
import { streamMethods } from './methods/streams.ts';
import { viewMethods } from './methods/views.ts';
import { workspaceMethods } from './methods/workspace.ts';
import { OAuth } from './oauth.ts';
import { RateLimits } from './rate-limits.ts';
import { routes } from './routes.ts';
import type { DisconnectReason } from './socket-mode-server.ts';
import { functionMethods, StepExecutions } from './step-executions.ts';
import { type RecordedCall, WebApi } from './web-api.ts';
import type { WorkspaceDeps } from './web-api-method.ts';
import { createWorkspaceDeps, type SlackWorkspaceOptions, settingsOf } from './workspace-options.ts';
import { type Change, World } from './world.ts';

export { seededRandom } from './ids.ts';
export type { Channel, Message, Person, PersonKind, SlackFile, Team } from './model.ts';
export type { RecordedCall } from './web-api.ts';
export { ALL_SCOPES, type SlackWorkspaceOptions } from './workspace-options.ts';
export type { Change } from './world.ts';

/** What the workspace needs besides the parts that its actions use. */
interface WorkspaceParts extends WorkspaceDeps {
  server: Reachable;
  api: WebApi;
  limits: RateLimits;
  oauth: OAuth;
  app: AppRegistration;
  steps: StepExecutions;
  faults: Faults;
  statuses: Map<string, ThreadStatus>;
  signingSecret: string;
  appToken: string;
  ackTimeoutMs: number;
}

/** A Slack workspace on this machine, for a real Bolt app. */
export class SlackWorkspace extends InteractionActions<WorkspaceParts> {
  /** The server's address. */
  readonly url = this.deps.world.baseUrl;
  /** The value for Bolt's `slackApiUrl`. */
  readonly apiUrl = `${this.url}/api/`;
  readonly teams = [...this.deps.world.teams.values()];
  /** The first workspace; `botToken` and `bot` belong to it. */
  readonly team = this.teamOr(undefined);
  readonly bot = this.team.bot;
  readonly deliveryStats = this.deps.deliveries.stats;
  /** Order, gap and duplicates of a message's events; may be changed at any time. */
  readonly delivery = this.deps.events.behaviour;
  /** Properties of this Slack; may be changed at any time. */
  readonly settings = this.deps.settings;
  readonly appToken = this.deps.appToken;
  readonly signingSecret = this.deps.signingSecret;
  readonly clientId = this.deps.oauth.clientId;
  readonly clientSecret = this.deps.oauth.clientSecret;
  readonly faults = this.deps.faults;
  /** Web API calls, oldest first. */
  readonly calls = this.deps.api.calls;
  /** The number of calls refused with 429, by method. */
  readonly throttledCalls = this.deps.limits.refused;
  /** The app as its owner registered it. */
  readonly app = this.deps.app;
  /** Workflows that run the app's steps. */
  readonly steps = this.deps.steps;

  get botToken(): string {
    return this.team.installation.token;
  }
  /** The number of open Socket Mode connections. */
  get connections(): number {
    return this.deps.sockets.count;
  }

  /** Adds a listener for each acknowledged event, with its envelope. */
  onAcknowledged(listener: (payload: Record<string, unknown>) => void): void {
    this.deps.deliveries.onAcknowledged(listener);
  }

  /** Adds a listener for each completed Web API call; the returned function removes it. */
  onCall(listener: (call: RecordedCall) => void): () => void {
    return this.deps.api.onCall(listener);
  }

  /** Adds a listener for each post, edit, deletion and reaction; the returned function removes it. */
  onChange(listener: (change: Change) => void): () => void {
    return this.deps.world.onChange(listener);
  }

  /** Adds a listener for changes that one person sees: ephemeral messages, modals, the Home tab. */
  onPrivateChange(listener: (user: string) => void): () => void {
    return this.deps.world.onPrivateChange(listener);
  }

  /** Sends further events to the app's own server. @throws if it does not return Slack's challenge */
  async useHttp({ eventsUrl }: { eventsUrl: string }): Promise<void> {
    const { signingSecret, ackTimeoutMs, world } = this.deps;
    const transport = new HttpEvents({ eventsUrl, signingSecret, clock: world.clock, ackTimeoutMs });
    await transport.verify(world.ids.letters(40), 'verification-token');
    this.deps.deliveries.use(transport);
  }

  /** Asks connections to close; see `SocketModeServer.refresh`. */
  refreshSockets(reason: DisconnectReason = 'refresh_requested', max?: number): void {
    this.deps.sockets.refresh(reason, max);
  }

  /** Sends any payload in a valid Socket Mode envelope and returns the outcome. */
  deliverRaw(kind: Delivery['kind'], payload: unknown): Promise<DeliveryOutcome> {
    return this.deps.sockets.deliver({ kind, payload, attempt: 0 });
  }

  /** Sends any text as a Socket Mode frame, without waiting for an acknowledgement. */
  sendFrame(text: string): void {
    this.deps.sockets.sendFrame(text);
  }

  /** Cuts all Socket Mode connections without a close frame. */
  cutSockets(): void {
    this.deps.sockets.cut();
  }

  /**
   * Loses all further events without an error: over the Socket Mode connections that are open now, which stay open, or
   * by HTTP. The returned function ends that.
   */
  goDeaf(): () => void {
    return this.deps.deliveries.goDeaf();
  }

  /** Resolves when every event is acknowledged or given up, and every uploaded file is posted. */
  settled(): Promise<void> {
    return this.deps.deliveries.settled();
  }

  /** The status that the app shows for a thread (`processing`, or its own text), if any. */
  status(channel: string, threadTs: string): ThreadStatus | undefined {
    const status = this.deps.statuses.get(`${channel} ${threadTs}`);
    const isOver = status?.until !== undefined && status.until <= this.deps.world.clock.now();
    return isOver ? { ...status, status: 'active' } : status;
  }

  /** An admin installs the app with the scopes and events of its manifest; returns the bot's token. */
  installApp(): string {
    const { settings } = this.deps;
    const { manifest } = this.app;
    if (manifest !== undefined) {
      settings.scopes.clear();
      for (const scope of manifest.oauth_config.scopes.bot) settings.scopes.add(scope);
      settings.events = new Set(manifest.settings.event_subscriptions.bot_events);
    }
    this.team.installation.install(settings.rotation);
    return this.botToken;
  }

  /** A code for oauth.v2.access. */
  installCode(teamId?: string): string {
    return this.deps.oauth.code(this.teamOr(teamId));
  }

  async stop(): Promise<void> {
    this.deps.deliveries.stop();
    await this.deps.sockets.stop();
    await this.deps.server.stop();
    this.deps.files.stop();
  }
}

/** Starts a Slack workspace on 127.0.0.1. */
export async function startSlackWorkspace(options: SlackWorkspaceOptions = {}): Promise<SlackWorkspace> {
  const clock = options.clock ?? Date;
  const random = options.random ?? Math.random;
  const ackTimeoutMs = options.ackTimeoutMs ?? 3000;
  const world = new World(clock, random);
  const appId = world.ids.next('A');
  for (const { name, id, organisation, installed } of options.teams ?? [{ name: 'Sandbox' }]) {
    const team = world.addTeam(appId, name, id, organisation);
    if (installed === false || options.appExists === false) team.installation.state = 'inactive';
  }
  const settings = settingsOf(options);
  const deps = createWorkspaceDeps(world, settings, options, ackTimeoutMs, appId);
  const limits = new RateLimits(options.limits ?? {}, clock, settings.commercial);
  const faults = options.faults ?? new Faults(random);
  const statuses = new Map<string, ThreadStatus>();
  const oauth = new OAuth(deps);
  const { clientId, clientSecret } = oauth;
  const appToken = appLevelToken(appId, world.ids.letters(24));
  const signingSecret = signingSecretOf(world.ids.letters(32));
  const app = new AppRegistration({ appId, clock, exists: options.appExists ?? true });
  const steps = new StepExecutions(deps, app);
  const methods = {
    ...chatMethods(deps),
    ...streamMethods(deps, statuses),
    ...conversationMethods(deps),
    ...workspaceMethods(deps),
    ...fileMethods(deps),
    ...viewMethods(deps),
    ...agentMethods(deps, statuses),
    ...functionMethods(steps),
    ...oauth.methods(),
    ...appManifestMethods(deps, app, { clientId, clientSecret, signingSecret }),
  };
  const api = new WebApi({ world, limits, scopes: settings.scopes, methods, appToken, app });
  const http = createServer(routes(deps, api, oauth, faults));
  deps.sockets.attach(http);
  const server = await listenBehind(http, { port: options.port, ...options.reach });
  world.baseUrl = server.origin;
  const parts = { server, api, limits, oauth, app, steps, faults, statuses };
  return new SlackWorkspace({ ...deps, ...parts, signingSecret, appToken, ackTimeoutMs });
}
