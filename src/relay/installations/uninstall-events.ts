import type { Logger } from 'pino';
import type { InstallationRow } from '../../store/schema/workspace-tables.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import { decryptTokens, encryptTokens } from './installation-tokens.ts';

/** What Slack says about an installation that ends, or reaches fewer or more workspaces. */
export type UninstallEvent = {
  /** The workspace of the event (`T…`). */
  workspace: string | undefined;
  /** The organisation (`E…`) that it belongs to. */
  organisation: string | undefined;
  /** By Slack's clock. */
  at: Date;
} & (
  | { kind: 'uninstalled' }
  /** Ids of the people and of the bot whose tokens are revoked. */
  | { kind: 'revoked'; people: readonly string[]; bots: readonly string[] }
  /** The organisation takes the app from some of its workspaces. */
  | { kind: 'withdrawn'; from: readonly string[] }
  /** The organisation gives the app to some of its workspaces. */
  | { kind: 'granted'; to: readonly string[] }
);

/** What taking departures needs. */
export interface UninstallEventsDeps {
  store: Pick<Store, 'installations' | 'audit'>;
  keyring: Keyring;
  /** Asks Slack whether a bot's token is good. Throws where Slack cannot be asked. */
  isTokenValid: (token: string) => Promise<boolean>;
  /** Hears when something has changed. */
  onChanged: () => Promise<void>;
  log: Logger;
}

/** An event this close to the installation (ms) may be about the one before. */
const REINSTALL_WINDOW_MS = 120_000;
/** How often one departure is judged while its installation changes. */
const MAX_ATTEMPTS = 5;

/**
 * Takes the end of installations. Slack sends `tokens_revoked` and `app_uninstalled` in any order, perhaps late and
 * after the app was installed anew: then the token itself says which installation is meant.
 */
export class UninstallEvents {
  readonly #deps: UninstallEventsDeps;

  constructor(deps: UninstallEventsDeps) {
    this.#deps = deps;
  }

  /** Returns when it is written down. Throws where Slack shall send it again. */
  async handle(event: UninstallEvent): Promise<void> {
    const { store, onChanged: onLeft } = this.#deps;
    if (event.kind === 'withdrawn' || event.kind === 'granted') {
      const { organisation } = event;
      if (organisation === undefined) return;
      if (event.kind === 'withdrawn') await store.installations.revokeAccess(organisation, event.from);
      else await store.installations.restoreAccess(organisation, event.to);
      return await onLeft();
    }
    const installation = await this.#targetInstallation(event);
    if (installation !== undefined) await this.#endInstallation(installation, event);
    await onLeft();
  }

  async #endInstallation(
    workspace: string,
    event: Extract<UninstallEvent, { kind: 'uninstalled' | 'revoked' }>,
  ): Promise<void> {
    const { store, log } = this.#deps;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const row = await store.installations.get(workspace);
      if (row === undefined || row.left_at !== null) return;
      if (event.kind === 'revoked') await this.#deleteUserToken(row, event.people);
      if (event.kind === 'revoked' && event.bots.length === 0) return;
      if (await this.#isStillInstalled(row, event.at)) {
        log.info({ workspace }, 'an installation before this one was ended');
        return;
      }
      // It may have been installed anew while Slack was asked.
      if (!(await store.installations.markUninstalled(workspace, row.version))) continue;
      const details = { setting: 'installation', installed: false };
      await store.audit.add({ workspace, kind: 'setting', details });
      log.info({ workspace, why: event.kind }, 'the app was uninstalled; its tokens are deleted');
      return;
    }
    throw new Error(`The installation of ${workspace} changes too often to be ended; Slack sends it again.`);
  }

  /** The workspace's own installation; where it has none, or has one no more, its organisation's. */
  async #targetInstallation({ workspace, organisation }: UninstallEvent): Promise<string | undefined> {
    const { installations } = this.#deps.store;
    const own = workspace === undefined ? undefined : await installations.get(workspace);
    if (own !== undefined && own.left_at === null) return workspace;
    return organisation;
  }

  async #isStillInstalled(row: InstallationRow, at: Date): Promise<boolean> {
    if (row.sealed === null) return false;
    // For an organisation Slack does not say plainly what was uninstalled, so it is always asked.
    if (!row.organisation && at.getTime() > row.installed_at.getTime() + REINSTALL_WINDOW_MS) return false;
    return this.#deps.isTokenValid(decryptTokens(this.#deps.keyring, row.workspace, row.sealed).bot.token);
  }

  async #deleteUserToken(row: InstallationRow, people: readonly string[]): Promise<void> {
    const { store, keyring } = this.#deps;
    if (row.sealed === null) return;
    const { user, ...tokens } = decryptTokens(keyring, row.workspace, row.sealed);
    if (user === undefined || !people.includes(user.id)) return;
    await store.installations.replaceEncrypted(
      row.workspace,
      row.sealed,
      encryptTokens(keyring, row.workspace, tokens),
    );
  }
}
