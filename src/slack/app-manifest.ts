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

/** The manifest at Slack with everything that ours sets; what only Slack has stays, except in lists. */
export function mergeManifests(atSlack: AppManifest, ours: AppManifest): AppManifest {
  const merged: Record<string, unknown> = { ...atSlack };
  for (const [key, value] of Object.entries(ours)) {
    const nested = manifestSchema.safeParse(value);
    const theirs = manifestSchema.safeParse(atSlack[key]);
    merged[key] = nested.success && theirs.success ? mergeManifests(theirs.data, nested.data) : value;
  }
  return merged;
}

/** Where the manifest at Slack differs from ours: the paths of the fields, such as `settings.interactivity`. */
export function manifestDifferences(atSlack: AppManifest, ours: AppManifest, path = ''): string[] {
  return Object.entries(ours).flatMap(([key, value]) => {
    const nested = manifestSchema.safeParse(value);
    const theirs = manifestSchema.safeParse(atSlack[key]);
    if (nested.success && theirs.success)
      return manifestDifferences(theirs.data, nested.data, `${path}${key}.`);
    return isDeepStrictEqual(inOrder(atSlack[key]), inOrder(value)) ? [] : [`${path}${key}`];
  });
}

/** Lists of names, such as scopes, have no order at Slack. */
function inOrder(value: unknown): unknown {
  const { data } = z.array(z.string()).safeParse(value);
  return data?.toSorted() ?? value;
}
