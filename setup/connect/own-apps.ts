import { z } from 'zod';
import { type AppManifest, type AppManifestOptions, AppManifests } from '../../src/slack/app-manifest.ts';
import { SlackError } from '../../src/slack/errors.ts';
import { anyResponseSchema, clientForToken } from '../../src/slack/slack-client.ts';

const createdSchema = z.looseObject({
  app_id: z.string(),
  credentials: z.looseObject({ signing_secret: z.string() }),
  /** Documented, but there is no documented way to ask for it. */
  app_token: z.string().optional(),
});
const rotatedSchema = z.looseObject({ token: z.string(), refresh_token: z.string() });
const problemsSchema = z.looseObject({
  data: z.looseObject({
    errors: z.array(z.looseObject({ message: z.string(), pointer: z.string().default('') })),
  }),
});

/** A new app. */
export interface CreatedApp {
  appId: string;
  signingSecret: string;
  appToken: string | undefined;
}

/** Also creates and deletes apps of the person who made the configuration token. Each method throws a SlackError. */
export class OwnApps extends AppManifests {
  /** Throws if Slack would refuse the manifest; see `manifestProblems`. Changes nothing. */
  async validate(manifest: AppManifest): Promise<void> {
    const args = { manifest: JSON.stringify(manifest) };
    await this.client.call('apps.manifest.validate', args, { schema: anyResponseSchema });
  }

  async create(manifest: AppManifest): Promise<CreatedApp> {
    const args = { manifest: JSON.stringify(manifest) };
    const created = await this.client.call('apps.manifest.create', args, { schema: createdSchema });
    const { app_id: appId, credentials, app_token: appToken } = created;
    return { appId, signingSecret: credentials.signing_secret, appToken };
  }

  async delete(appId: string): Promise<void> {
    await this.client.call('apps.manifest.delete', { app_id: appId }, { schema: anyResponseSchema });
  }
}

/** Exchanges a refresh token (`xoxe-…`), which is valid once, for a configuration token. Throws a SlackError. */
export async function rotateConfigurationToken(
  refreshToken: string,
  { slackApiUrl, log }: Omit<AppManifestOptions, 'token'>,
): Promise<{ token: string; refreshToken: string }> {
  const client = clientForToken(undefined, { slackApiUrl, log });
  const args = { refresh_token: refreshToken };
  const { token, refresh_token } = await client.call('tooling.tokens.rotate', args, {
    schema: rotatedSchema,
  });
  return { token, refreshToken: refresh_token };
}

/** What Slack refuses in a manifest, each with its place; empty for any other error. */
export function manifestProblems(error: unknown): string[] {
  if (!(error instanceof SlackError)) return [];
  const { data: cause } = problemsSchema.safeParse(error.cause);
  return cause?.data.errors.map(({ message, pointer }) => `${pointer}: ${message}`) ?? [];
}
