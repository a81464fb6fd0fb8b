import { createHash } from 'node:crypto';
import type { Clock, Ids } from './ids.ts';

/** An organisation (Enterprise Grid) that has installed the app for all its workspaces. */
export interface Organisation {
  id: string;
  name: string;
}

/** One installation of the app, in a workspace or in a whole organisation, with its tokens. */
export class AppInstallation {
  readonly organisation: Organisation | undefined;
  state: 'live' | 'revoked' | 'inactive' = 'live';
  readonly #ids: Ids;
  readonly #clock: Clock;
  readonly #id: string;
  token: string;
  refreshToken: string | undefined;
  #lifeMs: number | undefined;
  /** When each issued token expires (Unix time in ms). */
  readonly #ends = new Map<string, number>();

  constructor(of: { ids: Ids; clock: Clock; id: string; organisation: Organisation | undefined }) {
    this.#ids = of.ids;
    this.#clock = of.clock;
    this.#id = of.id;
    this.organisation = of.organisation;
    this.token = this.#make(undefined);
  }

  /** Installs or reinstalls the app: earlier tokens become invalid. New ones expire after `lifeMs`, if given. */
  install(lifeMs: number | undefined): void {
    this.#lifeMs = lifeMs;
    this.#ends.clear();
    this.token = this.#make(lifeMs);
    this.state = 'live';
  }

  /** Issues a new token for the current refresh token; returns false for any other. */
  refresh(refreshToken: string): boolean {
    if (this.state !== 'live' || refreshToken !== this.refreshToken) return false;
    this.token = this.#make(this.#lifeMs);
    return true;
  }

  hasIssued(token: string): boolean {
    return this.#ends.has(token);
  }

  isExpired(token: string): boolean {
    return (this.#ends.get(token) ?? 0) <= this.#clock.now();
  }

  /** Seconds until the newest token expires. */
  get expiresIn(): number {
    return Math.floor(((this.#ends.get(this.token) ?? 0) - this.#clock.now()) / 1_000);
  }

  #make(lifeMs: number | undefined): string {
    const secret = this.#ids.letters(16);
    const token = lifeMs !== undefined ? `xoxe.xoxb-1-${this.#id}-${secret}` : botToken(this.#id, secret);
    this.refreshToken = lifeMs !== undefined ? `xoxe-1-${this.#id}-${this.#ids.letters(24)}` : undefined;
    this.#ends.set(token, lifeMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.now() + lifeMs);
    return token;
  }
}

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
