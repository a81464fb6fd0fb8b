import { isDeepStrictEqual } from 'node:util';
import { configurationTokens } from './app-installation.ts';
import type { Clock } from './ids.ts';
import type { Manifest } from './manifest-schema.ts';

/** Configuration tokens end after twelve hours (ms). */
const CONFIGURATION_TOKEN_MS = 12 * 3_600_000;

/** The app as its owner registered it, and the tokens with which the owner may change it. This Slack knows one app. */
export class AppRegistration {
  readonly appId: string;
  readonly #clock: Clock;
  /** Whether the app exists. */
  exists: boolean;
  /** Undefined as long as nobody has set one by the API: then the app may do everything. */
  manifest: Manifest | undefined;
  /** Width and height of the icon in pixels, if one was set. */
  icon: { width: number; height: number } | undefined;
  #rotations = 0;
  /** What the owner copies from "Your App Configuration Tokens". */
  configuration: { token: string; refreshToken: string };
  #expiresAt: number;

  constructor(of: { appId: string; clock: Clock; exists: boolean }) {
    this.appId = of.appId;
    this.#clock = of.clock;
    this.exists = of.exists;
    this.configuration = configurationTokens(this.appId);
    this.#expiresAt = of.clock.now() + CONFIGURATION_TOKEN_MS;
  }

  /** Unix time in seconds at which the configuration token expires. */
  get expiresAt(): number {
    return Math.floor(this.#expiresAt / 1_000);
  }

  /** Why a configuration token is refused, if it is. */
  tokenRefusal(token: string): string | undefined {
    if (token === '') return 'not_authed';
    if (token !== this.configuration.token)
      return token.startsWith('xoxe.xoxp-') ? 'invalid_auth' : 'not_allowed_token_type';
    return this.#expiresAt <= this.#clock.now() ? 'token_expired' : undefined;
  }

  /** Replaces the tokens; returns false for any but the current refresh token. */
  rotate(refreshToken: string): boolean {
    if (refreshToken !== this.configuration.refreshToken) return false;
    this.#rotations += 1;
    this.configuration = configurationTokens(`${this.appId}${this.#rotations}`);
    this.#expiresAt = this.#clock.now() + CONFIGURATION_TOKEN_MS;
    return true;
  }

  /** Replaces the manifest; returns whether people must install the app again. */
  update(manifest: Manifest): boolean {
    const before = this.manifest?.oauth_config.scopes;
    this.manifest = manifest;
    return !isDeepStrictEqual(before, manifest.oauth_config.scopes);
  }
}
