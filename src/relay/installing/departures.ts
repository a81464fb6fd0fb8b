import type { Logger } from 'pino';
import type { Keyring } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import type { InstallationRow } from '../../store/tables-workspaces.ts';
import { openTokens, sealTokens } from './tokens.ts';

/** What Slack says about an installation that ends, or reaches fewer or more workspaces. */
export type Departure = {
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
export interface DeparturesParts {
  store: Pick<Store, 'installations' | 'audit'>;
  keyring: Keyring;
  /** Asks Slack whether a bot's token is good. Throws where Slack cannot be asked. */
  isAlive: (token: string) => Promise<boolean>;
  /** Hears when something has changed. */
  onLeft: () => Promise<void>;
  log: Logger;
}

/** An event this close to the installation (ms) may be about the one before. */
const closeMs = 120_000;
/** How often one departure is judged while its installation changes. */
const mostJudged = 5;

/**
 * Takes the end of installations. Slack sends `tokens_revoked` and `app_uninstalled` in any order, perhaps late and
 * after the app was installed anew: then the token itself says which installation is meant.
 */
export class Departures {
  readonly #parts: DeparturesParts;

  constructor(parts: DeparturesParts) {
    this.#parts = parts;
  }

  /** Returns when it is written down. Throws where Slack shall send it again. */
  async accept(departure: Departure): Promise<void> {
    const { store, onLeft } = this.#parts;
    if (departure.kind === 'withdrawn' || departure.kind === 'granted') {
      const { organisation } = departure;
      if (organisation === undefined) return;
      if (departure.kind === 'withdrawn') await store.installations.withdraw(organisation, departure.from);
      else await store.installations.grant(organisation, departure.to);
      return await onLeft();
    }
    const meant = await this.#meant(departure);
    if (meant !== undefined) await this.#end(meant, departure);
    await onLeft();
  }

  async #end(
    workspace: string,
    departure: Extract<Departure, { kind: 'uninstalled' | 'revoked' }>,
  ): Promise<void> {
    const { store, log } = this.#parts;
    for (let judged = 0; judged < mostJudged; judged += 1) {
      const row = await store.installations.get(workspace);
      if (row === undefined || row.left_at !== null) return;
      if (departure.kind === 'revoked') await this.#forgetPerson(row, departure.people);
      if (departure.kind === 'revoked' && departure.bots.length === 0) return;
      if (await this.#stillLives(row, departure.at)) {
        log.info({ workspace }, 'an installation before this one was ended');
        return;
      }
      // It may have been installed anew while Slack was asked.
      if (!(await store.installations.leave(workspace, row.version))) continue;
      const details = { setting: 'installation', installed: false };
      await store.audit.add({ workspace, kind: 'setting', details });
      log.info({ workspace, why: departure.kind }, 'the app was uninstalled; its tokens are deleted');
      return;
    }
    throw new Error(`The installation of ${workspace} changes too often to be ended; Slack sends it again.`);
  }

  /** The workspace's own installation; where it has none, or has one no more, its organisation's. */
  async #meant({ workspace, organisation }: Departure): Promise<string | undefined> {
    const { installations } = this.#parts.store;
    const own = workspace === undefined ? undefined : await installations.get(workspace);
    if (own !== undefined && own.left_at === null) return workspace;
    return organisation;
  }

  async #stillLives(row: InstallationRow, at: Date): Promise<boolean> {
    if (row.sealed === null) return false;
    // For an organisation Slack does not say plainly what was uninstalled, so it is always asked.
    if (!row.organisation && at.getTime() > row.installed_at.getTime() + closeMs) return false;
    return this.#parts.isAlive(openTokens(this.#parts.keyring, row.workspace, row.sealed).bot.token);
  }

  async #forgetPerson(row: InstallationRow, people: readonly string[]): Promise<void> {
    const { store, keyring } = this.#parts;
    if (row.sealed === null) return;
    const { user, ...tokens } = openTokens(keyring, row.workspace, row.sealed);
    if (user === undefined || !people.includes(user.id)) return;
    await store.installations.reseal(row.workspace, row.sealed, sealTokens(keyring, row.workspace, tokens));
  }
}
