import { Cache } from '../../slack/cache.ts';
import { isLasting, Unauthorized } from '../../slack/errors.ts';
import { type Keyring, SealError } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import { openTokens } from './tokens.ts';

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
  readonly #parts: ReachParts;
  readonly #known = new Cache<ReadonlySet<string>>({ most: 200, lifeMs });

  constructor(parts: ReachParts) {
    this.#parts = parts;
  }

  /** Throws a SlackError where Slack is away, and a StoreError. */
  async includes(organisation: string, workspace: string): Promise<boolean> {
    const row = await this.#parts.store.installations.get(organisation);
    if (row === undefined || !row.organisation || row.sealed === null) return false;
    const { sealed } = row;
    const reached = await this.#known.get(`${organisation}/${sealed}`, () => this.#ask(organisation, sealed));
    return reached.has(workspace);
  }

  async #ask(organisation: string, sealed: string): Promise<ReadonlySet<string>> {
    try {
      return await this.#parts.reachedBy(openTokens(this.#parts.keyring, organisation, sealed).bot.token);
    } catch (error) {
      if (error instanceof SealError || error instanceof Unauthorized || isLasting(error)) return new Set();
      throw error;
    }
  }
}
