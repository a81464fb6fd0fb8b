import { isDeepStrictEqual } from 'node:util';
import { WebAPIPlatformError } from '@slack/web-api';
import type { Logger } from 'pino';
import { z } from 'zod';
import { SlackError } from './errors.ts';
import { tokenOnlyInstallation } from './installation.ts';
import { anyResponseSchema, SlackClient } from './slack-client.ts';

/** Slack's manifest of an app, with fields that we do not know. */
export type AppManifest = Readonly<Record<string, unknown>>;

const manifestSchema = z.record(z.string(), z.unknown());
const createdSchema = z.looseObject({
  app_id: z.string(),
  credentials: z.looseObject({ signing_secret: z.string() }),
  /** Documented, but there is no documented way to ask for it. */
  app_token: z.string().optional(),
});
const rotatedSchema = z.looseObject({ token: z.string(), refresh_token: z.string() });
const problemsSchema = z.looseObject({
  errors: z.array(z.looseObject({ message: z.string(), pointer: z.string().default('') })),
});

/** Slack takes longer to create or change an app than for a message (ms). */
const CALL_TIMEOUT_MS = 30_000;

export interface AppManifestOptions {
  /** A configuration token (`xoxe.xoxp-…`); it lasts twelve hours. */
  token: string;
  slackApiUrl: string;
  log: Logger;
}

/** A new app. */
export interface CreatedApp {
  appId: string;
  signingSecret: string;
  appToken: string | undefined;
}

/** Creates and changes apps of the person who made the configuration token. Each method throws a SlackError. */
export class AppManifests {
  readonly #client: SlackClient;

  constructor({ token, slackApiUrl, log }: AppManifestOptions) {
    const installation = tokenOnlyInstallation(token);
    this.#client = new SlackClient({ installation, slackApiUrl, log, timeoutMs: CALL_TIMEOUT_MS });
  }

  /** Throws if Slack would refuse the manifest; see `manifestProblems`. Changes nothing. */
  async validate(manifest: AppManifest): Promise<void> {
    await this.#client.call(
      'apps.manifest.validate',
      { manifest: JSON.stringify(manifest) },
      { schema: anyResponseSchema },
    );
  }

  async create(manifest: AppManifest): Promise<CreatedApp> {
    const args = { manifest: JSON.stringify(manifest) };
    const created = await this.#client.call('apps.manifest.create', args, { schema: createdSchema });
    const { app_id: appId, credentials, app_token: appToken } = created;
    return { appId, signingSecret: credentials.signing_secret, appToken };
  }

  /** The app's manifest as it is at Slack. */
  async read(appId: string): Promise<AppManifest> {
    const schema = z.looseObject({ manifest: manifestSchema });
    return (await this.#client.call('apps.manifest.export', { app_id: appId }, { schema })).manifest;
  }

  /** Replaces the whole manifest; returns whether the app must be installed again. */
  async update(appId: string, manifest: AppManifest): Promise<boolean> {
    const schema = z.looseObject({ permissions_updated: z.boolean() });
    const args = { app_id: appId, manifest: JSON.stringify(manifest) };
    return (await this.#client.call('apps.manifest.update', args, { schema })).permissions_updated;
  }

  async delete(appId: string): Promise<void> {
    await this.#client.call('apps.manifest.delete', { app_id: appId }, { schema: anyResponseSchema });
  }
}

/** Exchanges a refresh token (`xoxe-…`), which is valid once, for a configuration token. Throws a SlackError. */
export async function rotateConfigurationToken(
  refreshToken: string,
  { slackApiUrl, log }: Omit<AppManifestOptions, 'token'>,
): Promise<{ token: string; refreshToken: string }> {
  const client = new SlackClient({ installation: tokenOnlyInstallation(), slackApiUrl, log });
  const args = { refresh_token: refreshToken };
  const { token, refresh_token } = await client.call('tooling.tokens.rotate', args, {
    schema: rotatedSchema,
  });
  return { token, refreshToken: refresh_token };
}

/** What Slack refuses in a manifest, each with its place; empty for any other error. */
export function manifestProblems(error: unknown): string[] {
  if (!(error instanceof SlackError) || !(error.cause instanceof WebAPIPlatformError)) return [];
  const { data } = problemsSchema.safeParse(error.cause.data);
  return data?.errors.map(({ message, pointer }) => `${pointer}: ${message}`) ?? [];
}

/** What the app's owner may choose: its name, its description and its picture. */
const OWNERS_FIELDS = new Set(['_metadata', 'display_information', 'bot_user']);
const stringsSchema = z.array(z.string());
/** Lists whose elements have a name of their own. */
const namedSchema = z.array(
  z.record(z.string(), z.unknown()).transform((fields) => ({
    name: String(fields.command ?? fields.callback_id ?? fields.name),
    fields,
  })),
);

/** The manifest at Slack with everything that ours asks for. What only Slack has stays, and what its owner may choose. */
export function mergeManifests(atSlack: AppManifest, ours: AppManifest): AppManifest {
  const merged = Object.entries(ours).map(([key, value]): [string, unknown] => {
    const isOwners = OWNERS_FIELDS.has(key) && atSlack[key] !== undefined;
    return [key, isOwners ? atSlack[key] : mergeValues(atSlack[key], value)];
  });
  return { ...atSlack, ...Object.fromEntries(merged) };
}

function mergeValues(theirs: unknown, ours: unknown): unknown {
  const [theirFields, ourFields] = [manifestSchema.safeParse(theirs), manifestSchema.safeParse(ours)];
  if (theirFields.success && ourFields.success) return mergeManifests(theirFields.data, ourFields.data);
  const [theirNames, ourNames] = [stringsSchema.safeParse(theirs), stringsSchema.safeParse(ours)];
  if (theirNames.success && ourNames.success) return [...new Set([...theirNames.data, ...ourNames.data])];
  const [theirItems, ourItems] = [namedSchema.safeParse(theirs), namedSchema.safeParse(ours)];
  if (!theirItems.success || !ourItems.success) return ours;
  const items = new Map([...theirItems.data, ...ourItems.data].map(({ name }) => [name, {}]));
  for (const { name, fields } of [...theirItems.data, ...ourItems.data])
    items.set(name, mergeManifests(items.get(name) ?? {}, fields));
  return [...items.values()];
}

/** What the manifest at Slack lacks of ours, one line each, such as `settings.socket_mode_enabled: true`. */
export function manifestDifferences(atSlack: AppManifest, ours: AppManifest, path = ''): string[] {
  const merged = mergeManifests(atSlack, ours);
  return Object.entries(merged).flatMap(([key, value]) => {
    if (isDeepStrictEqual(value, atSlack[key])) return [];
    const [fields, theirs] = [manifestSchema.safeParse(value), manifestSchema.safeParse(atSlack[key])];
    if (fields.success) return manifestDifferences(theirs.data ?? {}, fields.data, `${path}${key}.`);
    const { data: names } = stringsSchema.safeParse(value);
    const known = stringsSchema.safeParse(atSlack[key]).data ?? [];
    const lacking = names?.filter((name) => !known.includes(name)).join(', ');
    return [`${path}${key}${lacking === undefined ? differingValue(value) : `: ${lacking}`}`];
  });
}

function differingValue(value: unknown): string {
  return typeof value === 'object' ? '' : `: ${JSON.stringify(value)}`;
}

const commandsSchema = z.looseObject({
  features: z.looseObject({ slash_commands: z.array(z.looseObject({ command: z.string() })) }),
});

/** A manifest for Socket Mode, changed for events by HTTP at a public address; with `oauth` workspaces install it there. */
export function manifestForHttp(manifest: AppManifest, publicUrl: string, oauth: boolean): AppManifest {
  const url = new URL('/slack/events', publicUrl).href;
  const { slash_commands } = commandsSchema.parse(manifest).features;
  return mergeManifests(manifest, {
    features: { slash_commands: slash_commands.map(({ command }) => ({ command, url })) },
    oauth_config: oauth ? { redirect_urls: [new URL('/slack/oauth_redirect', publicUrl).href] } : {},
    settings: {
      event_subscriptions: { request_url: url },
      interactivity: { request_url: url },
      socket_mode_enabled: false,
      token_rotation_enabled: oauth,
    },
  });
}
