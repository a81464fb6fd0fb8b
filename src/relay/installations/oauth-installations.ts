import type { Logger } from 'pino';
import { isTokenValid, reachedBy, revokeToken } from '../../slack/token-identity.ts';
import { renewToken, type TokenRenewalOptions } from '../../slack/token-renewal.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import { encryptTokens, type GrantedInstallation } from './installation-tokens.ts';
import { InstalledWorkspaces, type InstalledWorkspacesDeps } from './installed-workspaces.ts';
import { Reach } from './organisation-workspaces.ts';
import { TokenRotation } from './token-rotation.ts';
import { UninstallEvents } from './uninstall-events.ts';

/** What many workspaces need. */
export interface OAuthInstallationsDeps
  extends Pick<InstalledWorkspacesDeps, 'createWorkspace' | 'tokenGateFor'> {
  store: Store;
  keyring: Keyring;
  tokenRenewal: TokenRenewalOptions;
  /** Workspaces (T…) and organisations (E…) that alone may install the app; none named: any may. */
  mayInstall: readonly string[];
  log: Logger;
}

/** All about the workspaces that install the app by OAuth. */
export class OAuthInstallations {
  readonly workspaces: InstalledWorkspaces;
  readonly uninstallEvents: UninstallEvents;
  readonly tokenRotation: TokenRotation;
  readonly #deps: OAuthInstallationsDeps;

  constructor(deps: OAuthInstallationsDeps) {
    const { store, keyring, tokenRenewal: renewal, log } = deps;
    const { slackApiUrl } = renewal;
    this.#deps = deps;
    const reach = new Reach({
      store,
      keyring,
      reachedBy: (token) => reachedBy({ token, slackApiUrl, log }),
    });
    const installed = new InstalledWorkspaces({ ...deps, reach });
    this.workspaces = installed;
    this.uninstallEvents = new UninstallEvents({
      store,
      keyring,
      isTokenValid: (token) => isTokenValid({ token, slackApiUrl, log }),
      onChanged: () => installed.refresh(),
      log,
    });
    this.tokenRotation = new TokenRotation({
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
  async install(granted: GrantedInstallation): Promise<void> {
    const { store, keyring, log } = this.#deps;
    if (!isInstallAllowed(granted, this.#deps.mayInstall)) return this.#refuse(granted);
    const { workspace, organisation, name } = granted;
    await store.installations.put({
      workspace,
      organisation,
      name,
      enterprise: granted.enterprise ?? null,
      bot_user: granted.botUser,
      bot_id: granted.botId,
      sealed: encryptTokens(keyring, workspace, granted.tokens),
      expires_at: granted.expiresAt ?? null,
    });
    const details = { setting: 'installation', installed: true };
    await store.audit.add({ workspace, kind: 'setting', person: granted.installer, details });
    log.info({ workspace, organisation }, 'the app was installed');
    await this.workspaces.refresh();
  }

  /** Gives the tokens back that Slack has granted already, but for those of an installation that is in use. */
  async #refuse({ workspace, enterprise, tokens }: GrantedInstallation): Promise<never> {
    const { store, tokenRenewal: renewal, log } = this.#deps;
    const { slackApiUrl } = renewal;
    log.warn({ workspace, enterprise }, 'a workspace that INSTALL_WORKSPACES does not name was refused');
    // Slack may grant a workspace the token once more that it has already.
    if ((await store.installations.get(workspace))?.sealed != null) throw new InstallRefused(workspace);
    for (const { token } of [tokens.bot, tokens.user].filter((one) => one !== undefined)) {
      await revokeToken({ token, slackApiUrl, log }).catch((error: unknown) => {
        log.warn({ workspace, err: error }, 'the token of a refused installation could not be given back');
      });
    }
    throw new InstallRefused(workspace);
  }
}

function isInstallAllowed({ workspace, enterprise }: GrantedInstallation, named: readonly string[]): boolean {
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
