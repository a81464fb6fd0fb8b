import type { Logger } from 'pino';
import type { InstallationRow } from '../../store/schema.ts';
import type { Store } from '../../store/store.ts';
import type { Keyring } from '../../store/workspaces/keyring.ts';
import { decryptTokens, encryptTokens } from './installation-tokens.ts';

/** A Slack event about an installation that ends, or that is for fewer or more workspaces. */
export type UninstallEvent = {
  /** The workspace of the event (`T…`). */
  workspace: string | undefined;
  /** The organisation (`E…`) that it belongs to. */
  organisation: string | undefined;
  /** When it happened, by Slack's clock. */
  at: Date;
} & (
  | { kind: 'uninstalled' }
  /** The ids of the people and the bot whose tokens were revoked. */
  | { kind: 'revoked'; people: readonly string[]; bots: readonly string[] }
  /** The organisation removes the app from some of its workspaces. */
  | { kind: 'access_revoked'; from: readonly string[] }
  /** The organisation adds the app to some of its workspaces. */
  | { kind: 'access_granted'; to: readonly string[] }
);

/** What handling uninstall events needs. */
export interface UninstallEventsDeps {
  store: Pick<Store, 'installations' | 'audit'>;
  keyring: Keyring;
  /** Asks Slack whether a bot token is valid. Throws where Slack cannot be asked. */
  isTokenValid: (token: string) => Promise<boolean>;
  /** Called when an installation may have changed. */
  onChanged: () => Promise<void>;
  log: Logger;
}

/** An event this soon after an installation (ms) may be about the one before. */
const REINSTALL_WINDOW_MS = 120_000;
/** How often one event is handled while its installation keeps changing. */
const MAX_ATTEMPTS = 5;

/**
 * Ends installations. Slack sends `tokens_revoked` and `app_uninstalled` in any order, perhaps late and after the app was
 * reinstalled. Whether the current token is still valid then tells which installation the event is about.
 */
export class UninstallEvents {
  readonly #deps: UninstallEventsDeps;

  constructor(deps: UninstallEventsDeps) {
    this.#deps = deps;
  }

  /** Returns once the event is stored. Throws where Slack must send it again. */
  async handle(event: UninstallEvent): Promise<void> {
    const { store, onChanged } = this.#deps;
    if (event.kind === 'access_revoked' || event.kind === 'access_granted') {
      const { organisation } = event;
      if (organisation === undefined) return;
      if (event.kind === 'access_revoked') await store.installations.revokeAccess(organisation, event.from);
      else await store.installations.restoreAccess(organisation, event.to);
      return await onChanged();
    }
    const installation = await this.#targetInstallation(event);
    if (installation !== undefined) await this.#endInstallation(installation, event);
    await onChanged();
  }

  async #endInstallation(
    workspace: string,
    event: Extract<UninstallEvent, { kind: 'uninstalled' | 'revoked' }>,
  ): Promise<void> {
    const { store, log } = this.#deps;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const row = await store.installations.get(workspace);
      if (row === undefined || row.uninstalled_at !== null) return;
      if (event.kind === 'revoked') await this.#deleteUserToken(row, event.people);
      if (event.kind === 'revoked' && event.bots.length === 0) return;
      if (await this.#isStillInstalled(row, event.at)) {
        log.info({ workspace }, 'ignored an uninstall event of an earlier installation');
        return;
      }
      // The app may have been reinstalled while Slack was asked.
      if (!(await store.installations.markUninstalled(workspace, row.change_seq))) continue;
      const details = { setting: 'installation', installed: false };
      await store.audit.add({ workspace, kind: 'setting', details });
      log.info({ workspace, why: event.kind }, 'app uninstalled; its tokens are deleted');
      return;
    }
    throw new Error(
      `The installation of ${workspace} kept changing while it was ended. Slack will resend the event.`,
    );
  }

  /** The workspace's own installation; where that has ended or never existed, its organisation's. */
  async #targetInstallation({ workspace, organisation }: UninstallEvent): Promise<string | undefined> {
    const { installations } = this.#deps.store;
    const own = workspace === undefined ? undefined : await installations.get(workspace);
    if (own !== undefined && own.uninstalled_at === null) return workspace;
    return organisation;
  }

  async #isStillInstalled(row: InstallationRow, at: Date): Promise<boolean> {
    if (row.encrypted_tokens === null) return false;
    // For an organisation the event does not say clearly what was uninstalled, so Slack is always asked.
    if (!row.is_enterprise_install && at.getTime() > row.installed_at.getTime() + REINSTALL_WINDOW_MS)
      return false;
    return this.#deps.isTokenValid(
      decryptTokens(this.#deps.keyring, row.workspace, row.encrypted_tokens).bot.token,
    );
  }

  async #deleteUserToken(row: InstallationRow, people: readonly string[]): Promise<void> {
    const { store, keyring } = this.#deps;
    if (row.encrypted_tokens === null) return;
    const { user, ...tokens } = decryptTokens(keyring, row.workspace, row.encrypted_tokens);
    if (user === undefined || !people.includes(user.id)) return;
    await store.installations.replaceEncrypted(
      row.workspace,
      row.encrypted_tokens,
      encryptTokens(keyring, row.workspace, tokens),
    );
  }
}
