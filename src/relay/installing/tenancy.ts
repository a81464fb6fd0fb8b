import type { Logger } from 'pino';
import { isAlive, reachedBy, revoke } from '../../slack/identity.ts';
import { renewToken, type TokenRenewal } from '../../slack/token-renewal.ts';
import type { Keyring } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import { Departures } from './departures.ts';
import { type InstalledParts, InstalledWorkspaces } from './installed-workspaces.ts';
import { Reach } from './reach.ts';
import { TokenRotation } from './rotation.ts';
import { type Granted, sealTokens } from './tokens.ts';

/** What many workspaces need. */
export interface TenancyParts extends Pick<InstalledParts, 'build' | 'gateOf'> {
  store: Store;
  keyring: Keyring;
  renewal: TokenRenewal;
  /** Workspaces (T…) and organisations (E…) that alone may install the app; none named: any may. */
  mayInstall: readonly string[];
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
    const reach = new Reach({
      store,
      keyring,
      reachedBy: (token) => reachedBy({ token, slackApiUrl, log }),
    });
    const installed = new InstalledWorkspaces({ ...parts, reach });
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

  /**
   * Writes an installation down, or a new one in place of the one before. Throws InstallRefused, and keeps nothing, for
   * a workspace that may not install the app.
   */
  async install(granted: Granted): Promise<void> {
    const { store, keyring, log } = this.#parts;
    if (!isNamed(granted, this.#parts.mayInstall)) return this.#refuse(granted);
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

  /** Gives the tokens back that Slack has granted already, but for those of an installation that is in use. */
  async #refuse({ workspace, enterprise, tokens }: Granted): Promise<never> {
    const { store, renewal, log } = this.#parts;
    const { slackApiUrl } = renewal;
    log.warn({ workspace, enterprise }, 'a workspace that INSTALL_WORKSPACES does not name was refused');
    // Slack may grant a workspace the token once more that it has already.
    if ((await store.installations.get(workspace))?.sealed != null) throw new InstallRefused(workspace);
    for (const { token } of [tokens.bot, tokens.user].filter((one) => one !== undefined)) {
      await revoke({ token, slackApiUrl, log }).catch((error: unknown) => {
        log.warn({ workspace, err: error }, 'the token of a refused installation could not be given back');
      });
    }
    throw new InstallRefused(workspace);
  }
}

function isNamed({ workspace, enterprise }: Granted, named: readonly string[]): boolean {
  if (named.length === 0) return true;
  return named.includes(workspace) || (enterprise !== undefined && named.includes(enterprise));
}

/** The operator does not let this workspace install the app. */
export class InstallRefused extends Error {
  readonly code = 'install_refused';
  /** The workspace's id, or the organisation's. */
  readonly workspace: string;

  constructor(workspace: string) {
    super(`${workspace} may not install the app. Name it in INSTALL_WORKSPACES, where it should.`);
    this.name = 'InstallRefused';
    this.workspace = workspace;
  }
}
