import { isLastingRefusal, SlackAuthError } from '../../slack/errors.ts';
import { ttlCache } from '../../slack/ttl-cache.ts';
import type { Store } from '../../store/store.ts';
import { DecryptionError, type Keyring } from '../../store/workspaces/keyring.ts';
import { decryptTokens } from './installation-tokens.ts';

/** What looking up an organisation's workspaces needs. */
export interface OrganisationWorkspacesDeps {
  store: Pick<Store, 'installations'>;
  keyring: Keyring;
  /** The workspaces that Slack lists for a token. Throws a SlackError. */
  workspacesOfToken: (token: string) => Promise<ReadonlySet<string>>;
}

/**
 * How long Slack's list is kept (ms): every event of a foreign workspace needs it, and a workspace that the organisation
 * has just added must be found soon.
 */
const CACHE_TTL_MS = 10_000;

/** Which workspaces an organisation's installation is for: only Slack's own list counts. */
export class OrganisationWorkspaces {
  readonly #deps: OrganisationWorkspacesDeps;
  readonly #known = ttlCache<ReadonlySet<string>, { organisation: string; tokens: string }>(
    200,
    CACHE_TTL_MS,
    (_key, { organisation, tokens }) => this.#ask(organisation, tokens),
  );

  constructor(deps: OrganisationWorkspacesDeps) {
    this.#deps = deps;
  }

  /** Throws StoreError, and a SlackError where Slack cannot be asked. */
  async includes(organisation: string, workspace: string): Promise<boolean> {
    const row = await this.#deps.store.installations.get(organisation);
    if (row === undefined || !row.is_enterprise_install || row.encrypted_tokens === null) return false;
    const { encrypted_tokens } = row;
    const reached = await this.#known.forceFetch(`${organisation}/${encrypted_tokens}`, {
      context: { organisation, tokens: encrypted_tokens },
    });
    return reached.has(workspace);
  }

  async #ask(organisation: string, sealed: string): Promise<ReadonlySet<string>> {
    try {
      return await this.#deps.workspacesOfToken(
        decryptTokens(this.#deps.keyring, organisation, sealed).bot.token,
      );
    } catch (error) {
      if (error instanceof DecryptionError || error instanceof SlackAuthError || isLastingRefusal(error))
        return new Set();
      throw error;
    }
  }
}
