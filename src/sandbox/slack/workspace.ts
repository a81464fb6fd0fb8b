import { createServer, type Server } from 'node:http';
import express from 'express';
import { Faults } from '../faults.ts';
import { Api, lastResort, methodName, type RecordedCall } from './api.ts';
import { Deliveries, type DeliveryStats } from './deliveries.ts';
import { type DeliveryHabits, Events } from './events.ts';
import { FileRoom } from './file-room.ts';
import { type HttpAddresses, HttpEvents } from './http-events.ts';
import type { Clock, Random } from './ids.ts';
import { Interactions } from './interactions.ts';
import { type Limits, RateLimits, SLACK_LIMITS } from './limits.ts';
import { Messages } from './messages.ts';
import type { Parts, Settings } from './method.ts';
import { agentMethods, type ThreadStatus } from './methods/agents.ts';
import { chatMethods } from './methods/chat.ts';
import { conversationMethods } from './methods/conversations.ts';
import { fileMethods } from './methods/files.ts';
import { viewMethods } from './methods/views.ts';
import { workspaceMethods } from './methods/workspace.ts';
import type { Team } from './model.ts';
import { OAuth } from './oauth.ts';
import { type DisconnectReason, Sockets } from './sockets.ts';
import { Clickers } from './verbs/clickers.ts';
import { Views } from './views.ts';
import { type Change, World } from './world.ts';

export type { RecordedCall } from './api.ts';
export { seededRandom } from './ids.ts';
export type { Channel, Message, Person, SlackFile, Team } from './model.ts';
export type { Change } from './world.ts';

/** Every scope that the sandbox knows. */
export const ALL_SCOPES = [
  ...[
    'app_mentions:read',
    'assistant:write',
    'chat:write',
    'commands',
    'files:read',
    'files:write',
    'team:read',
  ],
  ...[
    'channels:history',
    'groups:history',
    'im:history',
    'mpim:history',
    'channels:read',
    'groups:read',
    'im:read',
  ],
  ...[
    'mpim:read',
    'channels:join',
    'im:write',
    'mpim:write',
    'reactions:read',
    'reactions:write',
    'users:read',
  ],
];

export interface SlackWorkspaceOptions {
  /** Workspaces in which the app is installed; one called Sandbox when left out. */
  teams?: { id?: string; name: string }[];
  /** TCP port on 127.0.0.1; a free one when left out. */
  port?: number;
  /** Scopes of the bot's token; all when left out. */
  scopes?: string[];
  /** Events that the app subscribes to (`app_mention`, `message.channels`, ...); all when left out. */
  events?: string[];
  /** Changes to Slack's rate limits, or none at all. */
  limits?: Partial<Limits> | 'off';
  /** Multiplies the waits before an event is sent again (at once, 1 min, 5 min); 1 when left out. */
  retryScale?: number;
  /** How long Slack waits for an acknowledgement, in ms; 3000 when left out. */
  ackTimeoutMs?: number;
  /** Largest body of a Web API call, in bytes; 4 MiB when left out. */
  bodyLimit?: number;
  faults?: Faults;
  /** A seeded one makes ids, order and duplicates repeatable. */
  random?: Random;
  clock?: Clock;
  /** Random order, no gap and no duplicates when left out. */
  delivery?: Partial<DeliveryHabits>;
  /** Distributed outside the Marketplace: history and replies once a minute, 15 objects. */
  commercial?: boolean;
  /** Whether a second post with the same client_msg_id is answered with the first; yes when left out. */
  clientMsgIdDedupe?: boolean;
  /** Whether the app is declared an agent (agents.sessions.*). */
  agent?: boolean;
  /** From completeUploadExternal to the message with the file, in ms; 150 when left out. */
  shareDelayMs?: number;
  /** JSON characters of message metadata; 16,000 when left out (Slack publishes no number). */
  metadataLimit?: number;
  /** Life of a trigger_id, in ms; 3000 when left out. */
  triggerMs?: number;
}

/** What the workspace class needs besides the parts that verbs use. */
interface Machinery {
  server: Server;
  api: Api;
  limits: RateLimits;
  oauth: OAuth;
  faults: Faults;
  statuses: Map<string, ThreadStatus>;
  signingSecret: string;
  appToken: string;
  ackTimeoutMs: number;
}

/** A Slack workspace on this machine, for a real Bolt app. */
export class SlackWorkspace extends Clickers {
  readonly #machinery: Machinery;

  constructor(parts: Parts, machinery: Machinery) {
    super(parts);
    this.#machinery = machinery;
  }

  /** The server's address. */
  get url(): string {
    return this.parts.world.baseUrl;
  }
  /** For `slackApiUrl`. */
  get apiUrl(): string {
    return `${this.url}/api/`;
  }
  get appToken(): string {
    return this.#machinery.appToken;
  }
  get signingSecret(): string {
    return this.#machinery.signingSecret;
  }
  get clientId(): string {
    return this.#machinery.oauth.clientId;
  }
  get clientSecret(): string {
    return this.#machinery.oauth.clientSecret;
  }
  /** The first workspace; its token and bot are `botToken` and `bot`. */
  get team(): Team {
    return this.teamOr(undefined);
  }
  get teams(): Team[] {
    return [...this.parts.world.teams.values()];
  }
  get botToken(): string {
    return this.team.botToken;
  }
  get bot(): Team['bot'] {
    return this.team.bot;
  }
  get faults(): Faults {
    return this.#machinery.faults;
  }
  /** Web API calls, oldest first. */
  get calls(): RecordedCall[] {
    return this.#machinery.api.calls;
  }
  /** How many calls of each method were refused with 429. */
  get refused(): Record<string, number> {
    return this.#machinery.limits.refused;
  }
  get deliveryStats(): DeliveryStats {
    return this.parts.deliveries.stats;
  }
  /** Order, gap and duplicates of the copies of a message; may be changed at any time. */
  get delivery(): DeliveryHabits {
    return this.parts.events.habits;
  }
  /** Socket Mode connections that are open. */
  get connections(): number {
    return this.parts.sockets.count;
  }

  /** Called after each Web API call; the answer takes it back. */
  onCall(listener: (call: RecordedCall) => void): () => void {
    return this.#machinery.api.onCall(listener);
  }

  /** Called after each post, edit, deletion and reaction; the answer takes it back. */
  onChange(listener: (change: Change) => void): () => void {
    return this.parts.world.onChange(listener);
  }

  /** Sends events to the app's own server from now on. @throws if the address does not answer Slack's challenge */
  async useHttp(addresses: HttpAddresses): Promise<void> {
    const { signingSecret, ackTimeoutMs } = this.#machinery;
    const { world } = this.parts;
    const transport = new HttpEvents({ addresses, signingSecret, clock: world.clock, ackTimeoutMs });
    await transport.verify(world.ids.letters(40), 'verification-token');
    this.parts.deliveries.use(transport);
  }

  /** Sends events through Socket Mode again. */
  useSockets(): void {
    this.parts.deliveries.use(this.parts.sockets);
  }

  /** Asks connections to go; see Sockets.refresh. */
  refreshSockets(reason: DisconnectReason = 'refresh_requested', most?: number): void {
    this.parts.sockets.refresh(reason, most);
  }

  /** Cuts all Socket Mode connections without a word. */
  cutSockets(): void {
    this.parts.sockets.cut();
  }

  /** Resolves when every event is acknowledged or given up. */
  settled(): Promise<void> {
    return this.parts.deliveries.settled();
  }

  /** What the app shows for a thread (`processing`, a line of its own, ...), if anything. */
  status(channel: string, threadTs: string): ThreadStatus | undefined {
    return this.#machinery.statuses.get(`${channel} ${threadTs}`);
  }

  /** A code for oauth.v2.access. */
  installCode(teamId?: string): string {
    return this.#machinery.oauth.code(this.teamOr(teamId));
  }

  async stop(): Promise<void> {
    this.parts.deliveries.stop();
    await this.parts.sockets.stop();
    this.#machinery.server.closeAllConnections();
    await new Promise((resolve) => this.#machinery.server.close(resolve));
    this.parts.files.stop();
  }
}

/** Starts a Slack workspace on 127.0.0.1. */
export async function startSlackWorkspace(options: SlackWorkspaceOptions = {}): Promise<SlackWorkspace> {
  const clock = options.clock ?? Date;
  const random = options.random ?? Math.random;
  const scopes = new Set(options.scopes ?? ALL_SCOPES);
  const ackTimeoutMs = options.ackTimeoutMs ?? 3000;
  const world = new World(clock, random);
  const appId = world.ids.next('A');
  for (const team of options.teams ?? [{ name: 'Sandbox' }]) world.addTeam(appId, team.name, team.id);
  const settings: Settings = {
    scopes,
    commercial: options.commercial ?? false,
    clientMsgIdDedupe: options.clientMsgIdDedupe ?? true,
    agent: options.agent ?? false,
    shareDelayMs: options.shareDelayMs ?? 150,
    metadataLimit: options.metadataLimit ?? 16_000,
    triggerMs: options.triggerMs ?? 3000,
  };
  const parts = assemble(world, settings, options, ackTimeoutMs, appId);
  const limits = new RateLimits(options.limits ?? {}, clock, settings.commercial);
  const faults = options.faults ?? new Faults(random);
  const statuses = new Map<string, ThreadStatus>();
  const oauth = new OAuth(parts);
  const appToken = `xapp-sandbox-${world.ids.letters(24)}`;
  const methods = {
    ...chatMethods(parts),
    ...conversationMethods(parts),
    ...workspaceMethods(parts),
    ...fileMethods(parts),
    ...viewMethods(parts),
    ...agentMethods(parts, statuses),
    ...oauth.methods(),
  };
  const api = new Api({ world, limits, scopes, methods, appToken });
  const server = createServer(routes(parts, api, oauth, faults, options.bodyLimit ?? 4 * 1024 * 1024));
  parts.sockets.attach(server);
  await listening(server, options.port ?? 0);
  const address = server.address();
  world.baseUrl = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`;
  const signingSecret = world.ids.letters(32).toLowerCase();
  const machinery = { server, api, limits, oauth, faults, statuses, signingSecret, appToken, ackTimeoutMs };
  return new SlackWorkspace(parts, machinery);
}

function assemble(
  world: World,
  settings: Settings,
  options: SlackWorkspaceOptions,
  ackTimeoutMs: number,
  appId: string,
): Parts {
  const { ids, clock, random } = world;
  const sockets = new Sockets({ ids, random, ackTimeoutMs, appId });
  const deliveries = new Deliveries(sockets, options.retryScale ?? 1);
  const { limits = {} } = options;
  const events = new Events({
    deliveries,
    ids,
    clock,
    random,
    habits: { order: 'random', gapMs: 0, duplicateChance: 0, ...options.delivery },
    scopes: settings.scopes,
    subscribed: options.events,
    eventsPerHour:
      limits === 'off' ? Number.POSITIVE_INFINITY : (limits.eventsPerHour ?? SLACK_LIMITS.eventsPerHour),
  });
  const messages = new Messages(world, events);
  const interactions = new Interactions({ world, messages, deliveries, triggerMs: settings.triggerMs });
  const files = new FileRoom(world, () => settings.scopes.has('files:read'));
  const views = new Views(world);
  return { world, events, deliveries, messages, files, views, interactions, sockets, settings };
}

function routes(parts: Parts, api: Api, oauth: OAuth, faults: Faults, bodyLimit: number): express.Express {
  const app = express();
  const { files } = parts;
  const bodies = [
    express.urlencoded({ extended: false, limit: bodyLimit, parameterLimit: 1000 }),
    express.json({ limit: bodyLimit }),
  ];
  app.all('/api/:method', bodies, api.recorder(), faults.middleware(methodName), api.handler());
  app.get(
    '/files-pri/:key/{*name}',
    faults.middleware(() => 'files.download'),
    (request, response) => files.send(String(request.params.key).split('-').at(-1) ?? '', request, response),
  );
  app.post(
    '/upload/v1/:key',
    faults.middleware(() => 'files.upload'),
    (request, response) => files.receive(String(request.params.key), request, response),
  );
  app.post(
    ['/actions/:team/:key', '/commands/:team/:key'],
    bodies,
    (request: express.Request, response: express.Response) => {
      const answer = parts.interactions.answer(String(request.params.key), request.body);
      response.status(answer.status).send(answer.body);
    },
  );
  app.get('/oauth/v2/authorize', (request, response) => oauth.authorize(request, response));
  app.use(lastResort);
  return app;
}

function listening(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
}
