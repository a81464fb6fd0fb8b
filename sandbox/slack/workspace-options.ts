import type { Faults } from '../faults.ts';
import type { Organisation } from './app-installation.ts';
import { Deliveries } from './deliveries.ts';
import { type DeliveryBehaviour, Events } from './events.ts';
import { FileServer } from './file-server.ts';
import type { Clock, Random } from './ids.ts';
import { Interactions } from './interactions.ts';
import { Messages } from './messages.ts';
import { type Limits, SLACK_LIMITS } from './rate-limits.ts';
import { SocketModeServer } from './socket-mode-server.ts';
import { Views } from './views.ts';
import type { Settings, WorkspaceDeps } from './web-api-method.ts';
import type { World } from './world.ts';

/** Every scope that this Slack knows. */
export const ALL_SCOPES = [
  ...['channels', 'groups', 'im', 'mpim'].flatMap((kind) => [`${kind}:history`, `${kind}:read`]),
  ...['files', 'reactions'].flatMap((what) => [`${what}:read`, `${what}:write`]),
  ...['assistant', 'chat', 'im', 'mpim'].map((what) => `${what}:write`),
  ...['app_mentions:read', 'channels:join', 'commands', 'team:read', 'users:read'],
];

export interface SlackWorkspaceOptions {
  /** Workspaces; by default one named Sandbox. The app is installed unless `installed` is false. */
  teams?: { id?: string; name: string; installed?: boolean; organisation?: Organisation }[];
  /** Whether the app exists; if not, its owner creates it (apps.manifest.create). True by default. */
  appExists?: boolean;
  /** Lifetime of tokens (ms; 12 hours at Slack); by default they do not expire. */
  rotation?: number;
  /** TCP port on 127.0.0.1; a free one by default. */
  port?: number;
  /** Scopes of the bot's token; all by default. */
  scopes?: string[];
  /** Events that the app subscribes to (`app_mention`, `message.channels`, ...); all by default. */
  events?: string[];
  /** Changes to Slack's rate limits, or `off`. */
  limits?: Partial<Limits> | 'off';
  /** Multiplies the waits before retries of an event (none, 1 min, 5 min); 1 by default. */
  retryScale?: number;
  /** How long Slack waits for an acknowledgement, in ms; 3000 by default. */
  ackTimeoutMs?: number;
  /** Largest body of a Web API call, in bytes; 4 MiB by default. */
  bodyLimit?: number;
  faults?: Faults;
  /** A seeded one makes ids, order and duplicates repeatable. */
  random?: Random;
  clock?: Clock;
  /** By default random order, no gap and no duplicates. */
  delivery?: Partial<DeliveryBehaviour>;
  /** Whether the app is distributed outside the Marketplace: history and replies once a minute, 15 objects. */
  commercial?: boolean;
  /** Whether a second post with the same client_msg_id returns the first; true by default. */
  clientMsgIdDedupe?: boolean;
  /** Whether the app is declared an agent (agents.sessions.*). */
  agent?: boolean;
  /** From completeUploadExternal to the message with the file, in ms; 150 by default. */
  shareDelayMs?: number;
  /** The most JSON characters of message metadata; 16,000 by default (Slack publishes no number). */
  metadataLimit?: number;
  /** Lifetime of a trigger_id, in ms; 3000 by default. */
  triggerMs?: number;
  /** Lifetime of a stream, in ms; 300,000 by default (Slack publishes no number; 303 to 318 s were measured). */
  streamMs?: number;
  /** Bytes of Markdown in one stream; 10,600 by default (Slack publishes no number; 10,600 to 12,000 were measured). */
  streamBytes?: number;
  /** Whether Slack draws streams while they last: without the Agents feature it may not. True by default. */
  drawsStreams?: boolean;
  /** Block types that Slack refuses in messages, as for an app without a feature. */
  refusedBlocks?: string[];
}

/** The settings from the options and their defaults. */
export function settingsOf(options: SlackWorkspaceOptions): Settings {
  return {
    scopes: new Set(options.scopes ?? ALL_SCOPES),
    events: options.events && new Set(options.events),
    commercial: options.commercial ?? false,
    clientMsgIdDedupe: options.clientMsgIdDedupe ?? true,
    agent: options.agent ?? false,
    rotation: options.rotation,
    shareDelayMs: options.shareDelayMs ?? 150,
    metadataLimit: options.metadataLimit ?? 16_000,
    triggerMs: options.triggerMs ?? 3000,
    streamMs: options.streamMs ?? 300_000,
    streamBytes: options.streamBytes ?? 10_600,
    drawsStreams: options.drawsStreams ?? true,
    refusedBlocks: new Set(options.refusedBlocks),
  };
}

/** Creates and connects the parts of a workspace. */
export function createWorkspaceDeps(
  world: World,
  settings: Settings,
  options: SlackWorkspaceOptions,
  ackTimeoutMs: number,
  appId: string,
): WorkspaceDeps {
  const { ids, clock, random } = world;
  const sockets = new SocketModeServer({ ids, random, ackTimeoutMs, appId });
  const deliveries = new Deliveries(sockets, options.retryScale ?? 1);
  const { limits = {} } = options;
  const events = new Events({
    deliveries,
    ids,
    clock,
    random,
    behaviour: {
      order: 'random',
      gapMs: 0,
      editCopies: 'both',
      duplicateChance: 0,
      botAlias: '',
      organisationOnly: false,
      ...options.delivery,
    },
    scopes: settings.scopes,
    subscribed: () => settings.events,
    eventsPerHour:
      limits === 'off' ? Number.POSITIVE_INFINITY : (limits.eventsPerHour ?? SLACK_LIMITS.eventsPerHour),
  });
  const messages = new Messages(world, events);
  const interactions = new Interactions({ world, messages, deliveries, triggerMs: settings.triggerMs });
  const files = new FileServer(world, () => settings.scopes.has('files:read'));
  const views = new Views(world);
  return { world, events, deliveries, messages, files, views, interactions, sockets, settings };
}
