import type { Logger } from 'pino';
import { isAlive } from '../../slack/identity.ts';
import { renewToken, type TokenRenewal } from '../../slack/token-renewal.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import { Departures } from './departures.ts';
import { type InstalledParts, InstalledWorkspaces } from './installed-workspaces.ts';
import { TokenRotation } from './rotation.ts';
import { type Granted, sealTokens } from './tokens.ts';

/** What many workspaces need. */
export interface TenancyParts extends Pick<InstalledParts, 'build' | 'gateOf'> {
  store: Store;
  keyring: Keyring;
  renewal: TokenRenewal;
  log: Logger;
}

/** All about the workspaces that install the app by OAuth. */
export class Tenancy {
  readonly installed: InstalledWorkspaces;
  readonly departures: Departures;
  readonly rotation: TokenRotation;
  readonly #parts: TenancyParts;

  constructor(parts: TenancyParts) {
    const { store, keyring, renewal, log } = parts;
    const { slackApiUrl } = renewal;
    this.#parts = parts;
    const installed = new InstalledWorkspaces(parts);
    this.installed = installed;
    this.departures = new Departures({
      store,
      keyring,
      isAlive: (token) => isAlive({ token, slackApiUrl, log }),
      onLeft: () => installed.refresh(),
      log,
    });
    this.rotation = new TokenRotation({
      store,
      keyring,
      renew: (refreshToken) => renewToken(renewal, refreshToken),
      onRenewed: () => installed.refresh(),
      log,
    });
  }

  /** Writes an installation down, or a new one in place of the one before. */
  async install(granted: Granted): Promise<void> {
    const { store, keyring, log } = this.#parts;
    const { workspace, organisation, name } = granted;
    await store.installations.put({
      workspace,
      organisation,
      name,
      enterprise: granted.enterprise ?? null,
      bot_user: granted.botUser,
      bot_id: granted.botId,
      sealed: sealTokens(keyring, workspace, granted.tokens),
      expires_at: granted.expiresAt ?? null,
    });
    const details = { setting: 'installation', installed: true };
    await store.audit.add({ workspace, kind: 'setting', person: granted.installer, details });
    log.info({ workspace, organisation }, 'the app was installed');
    await this.installed.refresh();
  }
}
