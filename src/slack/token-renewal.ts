import { z } from 'zod';
import { tokenOnlyInstallation } from './installation.ts';
import { SlackClient, type SlackClientOptions } from './slack-client.ts';

const tokenResponseSchema = z.looseObject({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1),
  /** Seconds. */
  expires_in: z.number().positive(),
});

export interface RenewedToken {
  token: string;
  /** Valid once, for the next renewal. */
  refreshToken: string;
  expiresAt: Date;
}

/** Time limit of the call (ms): its answer holds the only refresh token that is valid then. */
const RENEWAL_TIMEOUT_MS = 45_000;

export interface TokenRenewalOptions extends Pick<SlackClientOptions, 'slackApiUrl' | 'log' | 'onCall'> {
  clientId: string;
  clientSecret: string;
}

/** Renews an expiring token; the old one stays valid until it expires. Throws a SlackError. */
export async function renewToken(
  { clientId, clientSecret, ...options }: TokenRenewalOptions,
  refreshToken: string,
): Promise<RenewedToken> {
  const client = new SlackClient({
    ...options,
    installation: tokenOnlyInstallation(),
    timeoutMs: RENEWAL_TIMEOUT_MS,
  });
  const args = {
    grant_type: 'refresh_token',
    client_id: clientId,
    client_secret: clientSecret,
    refresh_token: refreshToken,
  };
  const requestedAt = Date.now();
  const renewed = await client.call('oauth.v2.access', args, { schema: tokenResponseSchema });
  return {
    token: renewed.access_token,
    refreshToken: renewed.refresh_token,
    expiresAt: new Date(requestedAt + renewed.expires_in * 1_000),
  };
}
