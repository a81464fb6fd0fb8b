import type { Faults } from '../faults.ts';
import type { Organisation } from './app-installation.ts';
import type { DeliveryBehaviour } from './events.ts';
import type { Clock, Random } from './ids.ts';
import type { Limits } from './rate-limits.ts';
import type { Settings } from './web-api-method.ts';

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
  /** Workspaces; one called Sandbox when left out. The app is installed in them unless they say no. */
  teams?: { id?: string; name: string; installed?: boolean; organisation?: Organisation }[];
  /** Tokens end after so long (ms; Slack's twelve hours) and are renewed; they do not end when left out. */
  rotation?: number;
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
  delivery?: Partial<DeliveryBehaviour>;
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
  /** Life of a stream, in ms; 300,000 when left out (Slack publishes no number; 303 to 318 s were measured). */
  streamMs?: number;
  /** Types of blocks that messages may not hold, as for an app that lacks a feature. */
  refusedBlocks?: string[];
}

/** The settings of methods, with what is usual where nothing is said. */
export function settingsOf(options: SlackWorkspaceOptions): Settings {
  return {
    scopes: new Set(options.scopes ?? ALL_SCOPES),
    commercial: options.commercial ?? false,
    clientMsgIdDedupe: options.clientMsgIdDedupe ?? true,
    agent: options.agent ?? false,
    rotation: options.rotation,
    shareDelayMs: options.shareDelayMs ?? 150,
    metadataLimit: options.metadataLimit ?? 16_000,
    triggerMs: options.triggerMs ?? 3000,
    streamMs: options.streamMs ?? 300_000,
    refusedBlocks: new Set(options.refusedBlocks),
  };
}
