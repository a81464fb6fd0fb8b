import type { Logger } from 'pino';
import type { RenewedToken } from '../../slack/token-renewal.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import { Poller } from '../runtime/poller.ts';
import { decryptTokens, encryptTokens } from './installation-tokens.ts';

/** Tokens live twelve hours; they are renewed when this much is left (ms). */
const RENEW_AHEAD_MS = 2 * 60 * 60_000;
/** Renewals at one time: each holds a connection of the database while Slack answers, and needs a second one then. */
const MAX_CONCURRENT_RENEWALS = 3;
/** How often tokens that end soon are looked for (ms). */
const POLL_INTERVAL_MS = 60_000;
/** The longest that one which failed again and again is left out (ms): the others have their turn meanwhile. */
const MAX_PAUSE_MS = 60 * 60_000;

/** What renewing tokens needs. */
export interface TokenRotationDeps {
  store: Pick<Store, 'installations'>;
  keyring: Keyring;
  /** Asks Slack; throws a SlackError. */
  renew: (refreshToken: string) => Promise<RenewedToken>;
  /** Hears when tokens were renewed. */
  onRenewed: () => Promise<void>;
  log: Logger;
  /** The clock (ms). */
  now?: () => number;
}

/** Renews tokens before they end. Of all processes one does it: a refresh token is good once. */
export class TokenRotation {
  readonly #deps: TokenRotationDeps;
  /** What failed, how often in a row, and until when it is left out. */
  readonly #failures = new Map<string, { times: number; until: number }>();
  readonly #poller: Poller;

  constructor(deps: TokenRotationDeps) {
    this.#deps = deps;
    this.#poller = new Poller({
      intervalMs: POLL_INTERVAL_MS,
      poll: () => this.renewDue(),
      onError: (error) =>
        deps.log.warn(
          { err: error },
          'tokens that end could not be looked for; this is tried again in a minute',
        ),
    });
  }

  /** Renews what has ended or ends soon, and goes on with that; returns before, as Slack may be slow. */
  start(): void {
    this.#poller.start();
    this.#poller.pollNow();
  }

  /** Waits for the renewals under way, and begins no more. */
  async stop(): Promise<void> {
    await this.#poller.stop();
  }

  /** Renews what ends within the next two hours; what failed is tried again, in a minute at first. Throws StoreError. */
  async renewDue(): Promise<void> {
    const { store, log, onRenewed } = this.#deps;
    const now = this.#now();
    const paused = [...this.#failures].flatMap(([workspace, { until }]) => (until > now ? [workspace] : []));
    const due = await store.installations.expiringWithin(RENEW_AHEAD_MS, paused);
    let renewed = 0;
    const next = due.values();
    const renewNext = async () => {
      for (const workspace of next) {
        if (this.#poller.signal.aborted) return;
        if (await this.#renew(workspace)) renewed += 1;
      }
    };
    await Promise.all(Array.from({ length: MAX_CONCURRENT_RENEWALS }, renewNext));
    if (renewed === 0) return;
    log.info({ tokens: renewed }, 'tokens were renewed');
    await onRenewed();
  }

  async #renew(workspace: string): Promise<boolean> {
    const { store, keyring, renew, log } = this.#deps;
    try {
      const renewed = await store.installations.rotateTokens(
        workspace,
        RENEW_AHEAD_MS,
        async ({ sealed }) => {
          const tokens = decryptTokens(keyring, workspace, sealed ?? '');
          const { refreshToken } = tokens.bot;
          if (refreshToken === undefined) throw new Error('A token that ends came without one to renew it.');
          const { token, refreshToken: next, expiresAt } = await renew(refreshToken);
          const renewedTokens = { ...tokens, bot: { token, refreshToken: next } };
          return { sealed: encryptTokens(keyring, workspace, renewedTokens), expiresAt };
        },
      );
      this.#failures.delete(workspace);
      return renewed;
    } catch (error) {
      this.#pause(workspace);
      log.error(
        { workspace, err: error },
        'a token could not be renewed; where that stays so, the app must be installed again',
      );
      return false;
    }
  }

  /** A first failure may be Slack's; after that it is waited twice as long each time. */
  #pause(workspace: string): void {
    const times = (this.#failures.get(workspace)?.times ?? 0) + 1;
    const pauseMs = Math.min((2 ** (times - 1) - 1) * POLL_INTERVAL_MS, MAX_PAUSE_MS);
    this.#failures.set(workspace, { times, until: this.#now() + pauseMs });
  }

  #now(): number {
    return (this.#deps.now ?? Date.now)();
  }
}
