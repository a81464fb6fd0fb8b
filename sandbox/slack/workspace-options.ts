import type { Faults } from '../faults.ts';
import type { Reach } from '../reach.ts';
import type { Organisation } from './app-installation.ts';
import { Deliveries } from './deliveries.ts';
import { type DeliveryBehaviour, Events } from './events.ts';
import { FileServer } from './file-server.ts';
import type { Clock, Random } from './ids.ts';
import { Interactions } from './interactions.ts';
import { Messages } from './messages.ts';
import type { Limits } from './rate-limits.ts';
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

/** How a workspace begins, and which of the usual settings are others. */
export interface SlackWorkspaceOptions extends Partial<Omit<Settings, 'scopes' | 'events'>> {
  /** Workspaces; by default one named Sandbox. The app is installed unless `installed` is false. */
  teams?: { id?: string; name: string; installed?: boolean; organisation?: Organisation }[];
  /** Whether the app exists; if not, its owner creates it (apps.manifest.create). True by default. */
  appExists?: boolean;
  /** TCP port on 127.0.0.1; a free one by default. */
  port?: number;
  reach?: Reach;
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
  faults?: Faults;
  /** A seeded one makes ids, order and duplicates repeatable. */
  random?: Random;
  clock?: Clock;
  /** By default random order, no gap and no duplicates. */
  delivery?: Partial<DeliveryBehaviour>;
}

const USUAL: Omit<Settings, 'scopes' | 'events'> = {
  commercial: false,
  clientMsgIdDedupe: true,
  agent: false,
  rotation: undefined,
  shareDelayMs: 150,
  unshownFiles: undefined,
  metadataLimit: 16_000,
  triggerMs: 3_000,
  streamBytes: 10_600,
  refusedBlocks: [],
};

/** The settings from the options and the usual ones. */
export function settingsOf(options: SlackWorkspaceOptions): Settings {
  const scopes = new Set(options.scopes ?? ALL_SCOPES);
  return { ...USUAL, ...options, scopes, events: options.events && new Set(options.events) };
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
  const events = new Events({
    deliveries,
    ids,
    clock,
    random,
    behaviour: {
      order: 'random',
      gapMs: 0,
      editCopies: 'both',
      mentionCopies: 'both',
      mentionShows: 'all',
      repeatsRootFiles: false,
      authorizes: 'host',
      duplicateChance: 0,
      botAlias: '',
      organisationOnly: false,
      ...options.delivery,
    },
    scopes: settings.scopes,
    subscribed: () => settings.events,
  });
  const messages = new Messages(world, events);
  const interactions = new Interactions({ world, messages, deliveries, triggerMs: settings.triggerMs });
  const files = new FileServer(world, () => settings.scopes.has('files:read'));
  const views = new Views(world);
  return { world, events, deliveries, messages, files, views, interactions, sockets, settings };
}
