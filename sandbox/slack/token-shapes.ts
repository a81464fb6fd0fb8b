import { createHash } from 'node:crypto';

/** A bot token as Slack writes it, made of a secret. */
export function botToken(workspace: string, secret: string): string {
  return `xoxb-${digits(workspace)}-${digits(secret)}-${hash(secret).slice(0, 24)}`;
}

/** An app-level token as Slack writes it, made of a secret. */
export function appLevelToken(appId: string, secret: string): string {
  return `xapp-1-${appId}-${digits(secret)}-${hash(secret)}`;
}

/** A configuration token (`xoxe.xoxp-1-…`), and the refresh token for the next one (`xoxe-1-…`). */
export function configurationTokens(secret: string): { token: string; refreshToken: string } {
  const long = (salt: string) => Buffer.from(hash(salt + secret) + hash(secret + salt)).toString('base64url');
  return { token: `xoxe.xoxp-1-${long('token')}`, refreshToken: `xoxe-1-${long('refresh')}` };
}

/** A signing secret: 32 hexadecimal digits. */
export function signingSecretOf(secret: string): string {
  return hash(secret).slice(0, 32);
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Thirteen digits, as in the ids within Slack's tokens. */
function digits(text: string): string {
  return String(BigInt(`0x${hash(text).slice(0, 16)}`))
    .padStart(13, '1')
    .slice(0, 13);
}
