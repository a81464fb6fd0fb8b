import { z } from 'zod';
import type { Deliveries } from './deliveries.ts';
import type { Events } from './events.ts';
import type { FileServer } from './file-server.ts';
import type { Interactions } from './interactions.ts';
import type { Messages } from './messages.ts';
import { type Fields, isFields, parseJson, type Team } from './model.ts';
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

/** The properties of this Slack and of the app; workspace-options.ts has the usual ones. */
export interface Settings {
  /** The granted scopes. */
  scopes: Set<string>;
  /** The events that the app subscribes to; all if undefined. */
  events: ReadonlySet<string> | undefined;
  /** Whether the app is distributed outside the Marketplace: 15 objects a page and one call a minute for history and replies. */
  commercial: boolean;
  /** Whether `client_msg_id` prevents duplicate posts (undocumented at Slack, so an app must not rely on it). */
  clientMsgIdDedupe: boolean;
  /** Whether the app is declared an agent. */
  agent: boolean;
  /** Lifetime of tokens (ms; 12 hours at Slack), if they expire. */
  rotation: number | undefined;
  /** Between completeUploadExternal and the message with the file, in ms. */
  shareDelayMs: number;
  /** Names of files that completeUploadExternal accepts, and that no message ever shows. */
  unshownFiles: RegExp | undefined;
  /** The most JSON characters of message metadata; Slack publishes no number. */
  metadataLimit: number;
  /** Lifetime of a trigger_id, in ms. */
  triggerMs: number;
  /** The most UTF-8 bytes of Markdown in one stream (Slack publishes no number; 10,600 to 12,000 were measured). */
  streamBytes: number;
  /** Block types that Slack refuses in messages, as for an app without a feature. */
  refusedBlocks: readonly string[];
}

/** One Web API method. */
export interface Method {
  tier: Tier;
  /** All required scopes; the method itself checks scopes that depend on the channel. */
  scopes: string[];
  token: 'bot' | 'app' | 'configuration' | 'none';
  run(args: Fields, team: Team): Fields | Promise<Fields>;
}

/** Defines a method: checks the arguments, then `run` returns the response or throws a SlackRefusal. */
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

/** A text argument; forms send everything as text. */
export const text = z.union([z.string(), z.number().transform(String)]);

/** An optional text argument; an empty one counts as absent. */
export const maybe = text.optional().transform((value) => (value === '' ? undefined : value));

/** A boolean argument; false by default. */
export const flag = z
  .union([z.boolean(), z.string().transform((value) => value === 'true' || value === '1')])
  .optional()
  .transform((value) => value ?? false);

/** An integer argument. */
export const count = z.coerce.number().int();

/** An argument that forms send as JSON; invalid JSON stays text. */
export const json = z
  .unknown()
  .optional()
  .transform((value) => (value === '' ? undefined : typeof value === 'string' ? parseJson(value) : value));

/** An optional argument that is a JSON object. */
export const object = json.pipe(z.custom<Fields>(isFields).optional()).optional();
