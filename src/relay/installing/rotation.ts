import type { Logger } from 'pino';
import type { RenewedToken } from '../../slack/token-renewal.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import { Rounds } from '../rounds.ts';
import { openTokens, sealTokens } from './tokens.ts';

/** Tokens live twelve hours; they are renewed when this much is left (ms). */
const aheadMs = 2 * 60 * 60_000;
/** Renewals at one time: each holds a connection of the database while Slack answers, and needs a second one then. */
const atOnce = 3;
/** How often tokens that end soon are looked for (ms). */
const everyMs = 60_000;
/** The longest that one which failed again and again is left out (ms): the others have their turn meanwhile. */
const mostPauseMs = 60 * 60_000;

/** What renewing tokens needs. */
export interface RotationParts {
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
  readonly #parts: RotationParts;
  /** What failed, how often in a row, and until when it is left out. */
  readonly #failed = new Map<string, { times: number; until: number }>();
  readonly #rounds: Rounds;

  constructor(parts: RotationParts) {
    this.#parts = parts;
    this.#rounds = new Rounds({
      everyMs,
      round: () => this.once(),
      onError: (error) =>
        parts.log.warn(
          { err: error },
          'tokens that end could not be looked for; this is tried again in a minute',
        ),
    });
  }

  /** Renews what has ended or ends soon, and goes on with that; returns before, as Slack may be slow. */
  start(): void {
    this.#rounds.start();
    this.#rounds.look();
  }

  /** Waits for the renewals under way, and begins no more. */
  async stop(): Promise<void> {
    await this.#rounds.stop();
  }

  /** Renews what ends within the next two hours; what failed is tried again, in a minute at first. Throws StoreError. */
  async once(): Promise<void> {
    const { store, log, onRenewed } = this.#parts;
    const now = this.#now();
    const paused = [...this.#failed].flatMap(([workspace, { until }]) => (until > now ? [workspace] : []));
    const due = await store.installations.expiring(aheadMs, paused);
    let renewed = 0;
    const next = due.values();
    const renewNext = async () => {
      for (const workspace of next) {
        if (this.#rounds.signal.aborted) return;
        if (await this.#renew(workspace)) renewed += 1;
      }
    };
    await Promise.all(Array.from({ length: atOnce }, renewNext));
    if (renewed === 0) return;
    log.info({ tokens: renewed }, 'tokens were renewed');
    await onRenewed();
  }

  async #renew(workspace: string): Promise<boolean> {
    const { store, keyring, renew, log } = this.#parts;
    try {
      const renewed = await store.installations.rotate(workspace, aheadMs, async ({ sealed }) => {
        const tokens = openTokens(keyring, workspace, sealed ?? '');
        const { refreshToken } = tokens.bot;
        if (refreshToken === undefined) throw new Error('A token that ends came without one to renew it.');
        const { token, refreshToken: next, expiresAt } = await renew(refreshToken);
        const anew = { ...tokens, bot: { token, refreshToken: next } };
        return { sealed: sealTokens(keyring, workspace, anew), expiresAt };
      });
      this.#failed.delete(workspace);
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
    const times = (this.#failed.get(workspace)?.times ?? 0) + 1;
    const pauseMs = Math.min((2 ** (times - 1) - 1) * everyMs, mostPauseMs);
    this.#failed.set(workspace, { times, until: this.#now() + pauseMs });
  }

  #now(): number {
    return (this.#parts.now ?? Date.now)();
  }
}
