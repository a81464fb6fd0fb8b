import { isDeepStrictEqual } from 'node:util';
import type { Logger } from 'pino';
import { z } from 'zod';
import { clientForToken, type SlackClient } from './slack-client.ts';
import workflowStep from './workflow-step.json' with { type: 'json' };

/** Slack's manifest of an app, with fields that we do not know. */
export type AppManifest = Readonly<Record<string, unknown>>;

const manifestSchema = z.record(z.string(), z.unknown());

/** Slack takes longer to create or change an app than for a message (ms). */
const CALL_TIMEOUT_MS = 30_000;

export interface AppManifestOptions {
  /** A configuration token (`xoxe.xoxp-…`); it lasts twelve hours. */
  token: string;
  slackApiUrl: string;
  log: Logger;
}

/** Reads and changes apps of the person who made the configuration token. Each method throws a SlackError. */
export class AppManifests {
  protected readonly client: SlackClient;

  constructor({ token, slackApiUrl, log }: AppManifestOptions) {
    this.client = clientForToken(token, { slackApiUrl, log, timeoutMs: CALL_TIMEOUT_MS });
  }

  async read(appId: string): Promise<AppManifest> {
    const schema = z.looseObject({ manifest: manifestSchema });
    return (await this.client.call('apps.manifest.export', { app_id: appId }, { schema })).manifest;
  }

  /** Replaces the whole manifest; returns whether the app must be installed again. */
  async update(appId: string, manifest: AppManifest): Promise<boolean> {
    const schema = z.looseObject({ permissions_updated: z.boolean() });
    const args = { app_id: appId, manifest: JSON.stringify(manifest) };
    return (await this.client.call('apps.manifest.update', args, { schema })).permissions_updated;
  }
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

/** A list of either kind. */
const elementsSchema = z.union([
  z.array(z.string().transform((name) => ({ name, fields: {} }))),
  namedSchema,
]);

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

/**
 * What the manifest at Slack lacks of ours, one line each, such as `settings.socket_mode_enabled: true`; of a list, the names of
 * the elements that it lacks or has otherwise.
 */
export function manifestDifferences(atSlack: AppManifest, ours: AppManifest, path = ''): string[] {
  const merged = mergeManifests(atSlack, ours);
  return Object.entries(merged).flatMap(([key, value]) => {
    if (isDeepStrictEqual(value, atSlack[key])) return [];
    const [fields, theirs] = [manifestSchema.safeParse(value), manifestSchema.safeParse(atSlack[key])];
    if (fields.success) return manifestDifferences(theirs.data ?? {}, fields.data, `${path}${key}.`);
    const known = elementsSchema.safeParse(atSlack[key]).data ?? [];
    const lacking = elementsSchema
      .safeParse(value)
      .data?.filter((element) => !known.some((each) => isDeepStrictEqual(each, element)))
      .map(({ name }) => name);
    return [`${path}${key}: ${lacking?.join(', ') ?? JSON.stringify(value)}`];
  });
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

/** The manifest with the step for Slack's Workflow Builder, which Slack accepts of organisation-ready apps only. */
export function manifestWithStep(manifest: AppManifest): AppManifest {
  return mergeManifests(manifest, workflowStep);
}

/** Whether a manifest offers the step: then the app keeps it. */
export function hasStep({ functions }: AppManifest): boolean {
  return manifestSchema.safeParse(functions).data?.ask_agent !== undefined;
}
