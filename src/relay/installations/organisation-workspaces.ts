import { isLastingRefusal, SlackAuthError } from '../../slack/errors.ts';
import { TtlCache } from '../../slack/ttl-cache.ts';
import type { Store } from '../../store/store.ts';
import { DecryptionError, type Keyring } from '../../store/workspaces/keyring.ts';
import { decryptTokens } from './installation-tokens.ts';

/** What asking for an organisation's workspaces needs. */
export interface ReachParts {
  store: Pick<Store, 'installations'>;
  keyring: Keyring;
  /** The workspaces that a token reaches, as Slack says. Throws a SlackError. */
  reachedBy: (token: string) => Promise<ReadonlySet<string>>;
}

/** Each event of a foreign workspace asks; a workspace that the organisation has just added must be found soon (ms). */
const lifeMs = 10_000;

/** Which workspaces the installation of an organisation reaches: Slack's word alone counts. */
export class Reach {
  readonly #deps: ReachParts;
  readonly #known = new TtlCache<ReadonlySet<string>>({ most: 200, lifeMs });

  constructor(deps: ReachParts) {
    this.#deps = deps;
  }

  /** Throws a SlackError where Slack is away, and a StoreError. */
  async includes(organisation: string, workspace: string): Promise<boolean> {
    const row = await this.#deps.store.installations.get(organisation);
    if (row === undefined || !row.organisation || row.sealed === null) return false;
    const { sealed } = row;
    const reached = await this.#known.get(`${organisation}/${sealed}`, () => this.#ask(organisation, sealed));
    return reached.has(workspace);
  }

  async #ask(organisation: string, sealed: string): Promise<ReadonlySet<string>> {
    try {
      return await this.#deps.reachedBy(decryptTokens(this.#deps.keyring, organisation, sealed).bot.token);
    } catch (error) {
      if (error instanceof DecryptionError || error instanceof SlackAuthError || isLastingRefusal(error))
        return new Set();
      throw error;
    }
  }
}
