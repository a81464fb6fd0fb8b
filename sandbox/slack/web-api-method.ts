import { z } from 'zod';
import type { Deliveries } from './deliveries.ts';
import type { Events } from './events.ts';
import type { FileServer } from './file-server.ts';
import type { Interactions } from './interactions.ts';
import type { Messages } from './messages.ts';
import { type Fields, isFields, type Team } from './model.ts';
import type { Tier } from './rate-limits.ts';
import { explainedRefusal } from './slack-refusal.ts';
import type { SocketModeServer } from './socket-mode-server.ts';
import type { Views } from './views.ts';
import type { World } from './world.ts';

/** The parts of a workspace that Web API methods work with. */
export interface WorkspaceDeps {
  world: World;
  events: Events;
  deliveries: Deliveries;
  messages: Messages;
  files: FileServer;
  views: Views;
  interactions: Interactions;
  sockets: SocketModeServer;
  settings: Settings;
}

/** What the sandbox's Slack is like. */
export interface Settings {
  scopes: Set<string>;
  /** Distributed outside the Marketplace: 15 objects per page and one call a minute for history and replies. */
  commercial: boolean;
  /** Whether `client_msg_id` stops a second post (undocumented at Slack, so an app must live without). */
  clientMsgIdDedupe: boolean;
  /** Whether the app is declared an agent. */
  agent: boolean;
  /** After how long tokens end (ms), where they do. */
  rotation: number | undefined;
  /** Between completeUploadExternal and the message that shows the file, in ms. */
  shareDelayMs: number;
  /** JSON characters of message metadata; not published by Slack. */
  metadataLimit: number;
  /** Life of a trigger_id, in ms. */
  triggerMs: number;
  /** Life of a stream, however often it is appended to, in ms. */
  streamMs: number;
  /** Types of blocks that messages may not hold, as for an app that lacks a feature. */
  refusedBlocks: ReadonlySet<string>;
}

/** One Web API method. */
export interface Method {
  tier: Tier;
  /** Scopes of which all are needed; scopes that depend on the channel are checked by the method itself. */
  scopes: string[];
  token: 'bot' | 'app' | 'none';
  run(args: Fields, team: Team): Fields | Promise<Fields>;
}

/** Makes a method: its arguments are checked, then `run` gives the answer or throws a Refusal. */
export function method<Args>(
  rules: { tier: Tier; scopes?: string[]; token?: Method['token'] },
  args: z.ZodType<Args>,
  run: (args: Args, team: Team) => Fields | Promise<Fields>,
): Method {
  return {
    tier: rules.tier,
    scopes: rules.scopes ?? [],
    token: rules.token ?? 'bot',
    run(raw, team) {
      const checked = args.safeParse(raw);
      if (!checked.success) {
        const issues = checked.error.issues.map(
          (issue) => `${issue.message} [json-pointer:/${issue.path.join('/')}]`,
        );
        throw explainedRefusal('invalid_arguments', issues);
      }
      return run(checked.data, team);
    },
  };
}

/** A text argument; forms carry everything as text. */
export const text = z.union([z.string(), z.number().transform(String)]);

/** An optional text argument, for which empty means left out. */
export const maybe = text.optional().transform((value) => (value === '' ? undefined : value));

/** A yes-or-no argument; left out means no. */
export const flag = z
  .union([z.boolean(), z.string().transform((value) => value === 'true' || value === '1')])
  .optional()
  .transform((value) => value ?? false);

/** A whole number. */
export const count = z.coerce.number().int();

/** An argument that a form carries as JSON; text that is not JSON stays text. */
export const json = z
  .unknown()
  .optional()
  .transform((value) => (typeof value === 'string' ? parsed(value) : value));

/** An optional argument that is a JSON object. */
export const object = json.pipe(z.custom<Fields>(isFields).optional()).optional();

function parsed(value: string): unknown {
  if (value === '') return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
