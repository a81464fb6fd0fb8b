import type { Logger } from 'pino';
import { z } from 'zod';
import { doubledMs, repeatCall, sleepUnlessAborted } from '../../calls/retries-and-waits.ts';
import { SlackAuthError } from '../../slack/errors.ts';
import type { SlackTokens } from '../../slack/tokens.ts';
import type { Store } from '../../store/store.ts';
import { DecryptionError, encryptionContext, type Keyring } from '../../store/workspaces/encryption.ts';
import type { ClaimedRenewal, NewInstallation } from '../../store/workspaces/installations.ts';
import { inBackground, Poller } from '../runtime/poller.ts';

const MAX_CONCURRENT = 10;
/** How long a process has for a renewal (ms): longer than the call takes, and short beside the time that is left. */
const CLAIM_MS = 2 * 60_000;
/** The pauses between attempts to save a renewed token (ms): the first, doubling, and the longest. */
const SAVE_PAUSE_MS = { first: 250, most: 5_000 };
/** How long the end of the process waits until renewed tokens are saved (ms). */
const SAVE_GRACE_MS = 30_000;

/** What the parts of an installation share. */
export interface InstallationDeps {
  store: Pick<Store, 'installations' | 'audit'>;
  keyring: Keyring;
  slack: SlackTokens;
  log: Logger;
}

/**
 * Renews tokens before they expire, each time it is asked to look. Only one process renews a token, because a refresh token is valid once; the renewed
 * token is kept until the database takes it. A token that cannot be renewed is tried less and less often.
 */
export class TokenRotation extends Poller {
  readonly #deps: InstallationDeps;
  readonly #onRenewed: () => Promise<void>;
  readonly #claimMs: number;
  readonly #running = new Map<string, Promise<void>>();
  /** Aborted when the process can no longer wait for the database. */
  readonly #lastChance = new AbortController();

  /** `onRenewed` is called when a token was renewed. `claimMs`: how long a process has for it. */
  constructor(deps: InstallationDeps, onRenewed: () => Promise<void>, claimMs = CLAIM_MS) {
    super({
      startsAtOnce: true,
      poll: () => this.#beginDue(),
      onError: (error) =>
        deps.log.warn({ err: error }, 'looking for expiring tokens failed; retrying in a minute'),
    });
    this.#deps = deps;
    this.#onRenewed = onRenewed;
    this.#claimMs = claimMs;
  }

  /** Renews tokens that are due, and retries failed ones after their pause. Throws StoreError once those under way have ended. */
  async renewDue(): Promise<void> {
    try {
      await this.#beginDue();
    } finally {
      await Promise.all(this.#running.values());
    }
  }

  /** Begins nothing more, and waits until the renewals under way are saved. */
  override async stop(): Promise<void> {
    await super.stop();
    using _grace = setTimeout(() => this.#lastChance.abort(), SAVE_GRACE_MS);
    await Promise.all(this.#running.values());
  }

  /** Begins what is due. Each is claimed with a permit of the rate limit: no claim ends while it waits for one. */
  async #beginDue(): Promise<void> {
    const { slack, store } = this.#deps;
    while (this.#running.size < MAX_CONCURRENT) {
      if (!(await store.installations.hasDueRenewal([...this.#running.keys()]))) return;
      const permit = await slack.renewalPermit(this.signal);
      const renewal = await store.installations.claimRenewal([...this.#running.keys()], this.#claimMs);
      if (renewal === undefined) return permit?.release();
      this.#begin(renewal);
    }
  }

  #begin(renewal: ClaimedRenewal): void {
    const run = this.#renew(renewal).finally(() => {
      const wasFull = this.#running.size >= MAX_CONCURRENT;
      this.#running.delete(renewal.workspace);
      if (wasFull) this.pollNow();
    });
    this.#running.set(renewal.workspace, run);
  }

  async #renew(renewal: ClaimedRenewal): Promise<void> {
    const { keyring, slack, log } = this.#deps;
    const { workspace } = renewal;
    try {
      const tokens = decryptTokens(keyring, workspace, renewal.encrypted_tokens);
      const { refreshToken } = tokens.bot;
      if (refreshToken === undefined) throw new Error('An expiring token has no refresh token.');
      const { token, refreshToken: next, expiresAt } = await slack.renew(refreshToken);
      const bot = { token, refreshToken: next };
      const encrypted = encryptTokens(keyring, workspace, { ...tokens, bot });
      const isSaved = await this.#save(renewal, encrypted, expiresAt);
      if (!isSaved) return;
      log.info({ workspace }, 'token renewed');
      inBackground(this.#onRenewed(), log, 'applying a renewed token failed; the next refresh does it');
    } catch (error) {
      const about = { workspace, err: error };
      if (error instanceof SlackAuthError && error.isInstallationDead)
        log.error(about, 'Slack refuses to renew a token: install the app again in this workspace');
      else log.warn(about, 'renewing a token failed; trying again');
    }
  }

  /** The old refresh token is spent: until this one is saved, only this process has it, whatever the database answers. */
  async #save(renewal: ClaimedRenewal, encrypted: string, expiresAt: Date): Promise<boolean> {
    const { store, log } = this.#deps;
    const { signal } = this.#lastChance;
    return await repeatCall(
      () => store.installations.saveRenewed(renewal, encrypted, expiresAt),
      (error, attempt) => {
        if (signal.aborted || Date.now() > expiresAt.getTime()) return undefined;
        log.warn(
          { workspace: renewal.workspace, err: error },
          'a renewed token cannot be saved yet; trying again',
        );
        return doubledMs(SAVE_PAUSE_MS.first, attempt, SAVE_PAUSE_MS.most);
      },
      (pauseMs) => sleepUnlessAborted(pauseMs, signal),
    );
  }
}

const tokensSchema = z.object({
  bot: z.object({ token: z.string().min(1), refreshToken: z.string().min(1).optional() }),
});

export type InstallationTokens = z.output<typeof tokensSchema>;

/** What Slack grants to a workspace, or an organisation, that installs the app; its tokens are still to be encrypted. */
export interface GrantedInstallation extends Omit<NewInstallation, 'encrypted_tokens'> {
  tokens: InstallationTokens;
  installer: string;
}

/** Encrypts tokens for the database. They can be decrypted only as this installation's. */
export function encryptTokens(keyring: Keyring, workspace: string, tokens: InstallationTokens): string {
  return keyring.encrypt(JSON.stringify(tokens), encryptionContext.installation(workspace));
}

/** Decrypts the tokens of a row. Throws DecryptionError. */
export function decryptTokens(keyring: Keyring, workspace: string, encrypted: string): InstallationTokens {
  const text = keyring.decrypt(encrypted, encryptionContext.installation(workspace));
  try {
    return tokensSchema.parse(JSON.parse(text));
  } catch (error) {
    throw new DecryptionError('changed', error);
  }
}
