import type { Logger } from 'pino';
import type { RenewedToken } from '../../slack/token-renewal.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import { Poller } from '../runtime/poller.ts';
import { decryptTokens, encryptTokens } from './installation-tokens.ts';

/** A token lasts twelve hours. It is renewed when this much is left (ms). */
const RENEW_AHEAD_MS = 2 * 60 * 60_000;
/** How often expiring tokens are looked for (ms). */
const POLL_INTERVAL_MS = 60_000;
/** The longest pause after repeated failures of one token (ms). Meanwhile the others are renewed. */
const MAX_PAUSE_MS = 60 * 60_000;

export interface TokenRotationDeps {
  store: Pick<Store, 'installations'>;
  keyring: Keyring;
  /** Asks Slack; throws a SlackError. */
  renew: (refreshToken: string) => Promise<RenewedToken>;
  /** Called when tokens were renewed. */
  onRenewed: () => Promise<void>;
  log: Logger;
  /** The clock (ms). */
  now?: () => number;
}

/** Renews tokens before they expire. Only one process renews a token, because a refresh token is valid once. */
export class TokenRotation extends Poller {
  readonly #deps: TokenRotationDeps;
  /** Failures in a row by workspace, and when its pause ends. */
  readonly #failures = new Map<string, { times: number; until: number }>();

  constructor(deps: TokenRotationDeps) {
    super({
      intervalMs: POLL_INTERVAL_MS,
      startsAtOnce: true,
      poll: () => this.renewDue(),
      onError: (error) =>
        deps.log.warn({ err: error }, 'looking for expiring tokens failed; retrying in a minute'),
    });
    this.#deps = deps;
  }

  /** Renews tokens that expire within two hours, and retries failed ones after their pause. Throws StoreError. */
  async renewDue(): Promise<void> {
    const { store, log, onRenewed } = this.#deps;
    const now = this.#now();
    const paused = [...this.#failures].flatMap(([workspace, { until }]) => (until > now ? [workspace] : []));
    const due = await store.installations.expiringWithin(RENEW_AHEAD_MS, paused);
    let renewedCount = 0;
    // One at a time: each holds one of a few database connections while Slack answers, and needs a second one then.
    for (const workspace of due) {
      if (this.signal.aborted) break;
      if (await this.#renew(workspace)) renewedCount += 1;
    }
    if (renewedCount === 0) return;
    log.info({ tokens: renewedCount }, 'tokens renewed');
    await onRenewed();
  }

  async #renew(workspace: string): Promise<boolean> {
    const { store, keyring, renew, log } = this.#deps;
    try {
      const renewed = await store.installations.rotateTokens(
        workspace,
        RENEW_AHEAD_MS,
        async ({ encrypted_tokens }) => {
          const tokens = decryptTokens(keyring, workspace, encrypted_tokens ?? '');
          const { refreshToken } = tokens.bot;
          if (refreshToken === undefined) throw new Error('An expiring token has no refresh token.');
          const { token, refreshToken: next, expiresAt } = await renew(refreshToken);
          const renewedTokens = { ...tokens, bot: { token, refreshToken: next } };
          return { encryptedTokens: encryptTokens(keyring, workspace, renewedTokens), expiresAt };
        },
      );
      this.#failures.delete(workspace);
      return renewed;
    } catch (error) {
      this.#pause(workspace);
      log.error(
        { workspace, err: error },
        'renewing a token failed; if it keeps failing, the app must be reinstalled',
      );
      return false;
    }
  }

  /** No pause after the first failure, which may be Slack's; then each pause is twice as long. */
  #pause(workspace: string): void {
    const times = (this.#failures.get(workspace)?.times ?? 0) + 1;
    const pauseMs = Math.min((2 ** (times - 1) - 1) * POLL_INTERVAL_MS, MAX_PAUSE_MS);
    this.#failures.set(workspace, { times, until: this.#now() + pauseMs });
  }

  #now(): number {
    return (this.#deps.now ?? Date.now)();
  }
}
