import type { InstallationRow } from '../../store/schema.ts';
import { decryptTokens, type InstallationDeps } from './token-rotation.ts';

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
  /** The bot's tokens were revoked. */
  | { kind: 'revoked' }
  /** The organisation removes the app from some of its workspaces. */
  | { kind: 'access_revoked'; from: readonly string[] }
  /** The organisation adds the app to some of its workspaces. */
  | { kind: 'access_granted'; to: readonly string[] }
);

type InstallationEndEvent = Extract<UninstallEvent, { kind: 'uninstalled' | 'revoked' }>;

export interface UninstallEventsDeps extends InstallationDeps {
  /** Called when an installation may have changed. */
  onChanged: () => Promise<void>;
  /** The time between the two refusals of a token that end its installation (ms). */
  confirmAfterMs?: number | undefined;
  /** The clock (ms). */
  now?: () => number;
}

/** By default a refused token is asked about again after this time (ms). */
const CONFIRM_AFTER_MS = 120_000;

/** An event this soon after an installation (ms) may be about the one before. */
const REINSTALL_WINDOW_MS = 120_000;
/** How often one event is handled while its installation keeps changing. */
const MAX_ATTEMPTS = 5;

/**
 * Ends installations. Slack sends `tokens_revoked` and `app_uninstalled` in any order, perhaps late and after the app was
 * reinstalled. Whether the current token is still valid then tells which installation the event is about. One refusal may
 * be Slack's error: the installation ends with a second one, minutes later.
 */
export class UninstallEvents {
  readonly #deps: UninstallEventsDeps;
  /** When the token of an installation was first refused (ms). */
  readonly #refusedSince = new Map<string, number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isStopped = false;

  constructor(deps: UninstallEventsDeps) {
    this.#deps = deps;
  }

  /** Asks about no further tokens. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Returns once the event is stored. Throws if Slack must send it again. */
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

  async #endInstallation(workspace: string, event: InstallationEndEvent): Promise<void> {
    const { store, log } = this.#deps;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const row = await store.installations.get(workspace);
      if (row === undefined || row.uninstalled_at !== null) return;
      if (await this.#isStillInstalled(row, event)) {
        log.info({ workspace }, 'ignored an uninstall event of an earlier installation');
        return;
      }
      // The app may have been reinstalled while Slack was asked.
      if (!(await store.installations.markUninstalled(workspace, row.change_seq))) continue;
      this.#refusedSince.delete(versionOf(row));
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

  async #isStillInstalled(row: InstallationRow, event: InstallationEndEvent): Promise<boolean> {
    const { at } = event;
    if (row.encrypted_tokens === null) return false;
    // For an organisation the event does not say clearly what was uninstalled, so Slack is always asked.
    if (!row.is_enterprise_install && at.getTime() > row.installed_at.getTime() + REINSTALL_WINDOW_MS)
      return false;
    const { token } = decryptTokens(this.#deps.keyring, row.workspace, row.encrypted_tokens).bot;
    const isValid = await this.#deps.slack.isValid(token);
    if (isValid) this.#refusedSince.delete(versionOf(row));
    else this.#requireSecondRefusal(row, event);
    return isValid;
  }

  /** Throws unless the token was refused minutes ago already. Slack sends the event again, and this process asks again. */
  #requireSecondRefusal(row: InstallationRow, event: InstallationEndEvent): void {
    const { confirmAfterMs = CONFIRM_AFTER_MS, now = Date.now } = this.#deps;
    const since = this.#refusedSince.get(versionOf(row));
    if (since !== undefined && now() - since >= confirmAfterMs) return;
    if (since === undefined) {
      this.#refusedSince.set(versionOf(row), now());
      this.#handleAgain(event, confirmAfterMs);
    }
    throw new Error(`The token of ${row.workspace} is kept until it is refused again minutes later.`);
  }

  #handleAgain(event: InstallationEndEvent, ms: number): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.handle(event).catch((error: unknown) => {
        this.#deps.log.warn({ err: error }, 'could not confirm that an installation has ended; trying again');
        if (!this.#isStopped) this.#handleAgain(event, ms);
      });
    }, ms);
    this.#timers.add(timer.unref());
  }
}

/** A reinstallation changes it, a renewed token does not. */
function versionOf({ workspace, installed_at }: InstallationRow): string {
  return `${workspace}/${installed_at.getTime()}`;
}
