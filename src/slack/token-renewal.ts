import type { Logger } from 'pino';
import { z } from 'zod';
import { SlackClient, tokenOnlyInstallation } from './slack-client.ts';

const tokenAnswerSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  /** Seconds. */
  expires_in: z.number().positive(),
});

/** A token that took the place of another. */
export interface RenewedToken {
  token: string;
  /** Good once, for the next renewal. */
  refreshToken: string;
  expiresAt: Date;
}

/** What renewing a token needs. */
export interface TokenRenewalOptions {
  clientId: string;
  clientSecret: string;
  slackApiUrl: string;
  log: Logger;
}

/** Has a token renewed that will end; the one before stays good until its own end. Throws a SlackError. */
export async function renewToken(
  { clientId, clientSecret, slackApiUrl, log }: TokenRenewalOptions,
  refreshToken: string,
): Promise<RenewedToken> {
  const client = new SlackClient({ installation: tokenOnlyInstallation(), slackApiUrl, log });
  const args = {
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret,
    refresh_token: refreshToken,
  };
  const asked = Date.now();
  const renewed = await client.call('oauth.v2.access', args, { schema: tokenAnswerSchema });
  return {
    token: renewed.access_token,
    refreshToken: renewed.refresh_token,
    expiresAt: new Date(asked + renewed.expires_in * 1_000),
  };
}
