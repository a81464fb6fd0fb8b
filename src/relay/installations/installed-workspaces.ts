import type { CredentialGate } from '../../calls/credential-gate.ts';
import { ttlCache } from '../../calls/shared-calls.ts';
import { isPermanentRefusal, SlackAuthError } from '../../slack/errors.ts';
import type { Installation } from '../../slack/slack-client.ts';
import { DecryptionError } from '../../store/workspaces/encryption.ts';
import type { InstalledWorkspace } from '../../store/workspaces/installations.ts';
import type { WorkspaceClient } from '../runtime/deps.ts';
import { decryptTokens, type InstallationDeps } from './token-rotation.ts';

/** What a process knows of rows that other processes change, each with a higher `change_seq` than all changes before. */
export abstract class RefreshedRows<Row extends { change_seq: number }> {
  #lastSequence = 0;
  #running: Promise<void> | undefined;
  /** Deleted rows are to be noticed, too. */
  #isFullDue = false;

  /** Reads what has changed since the last time. With `isFull`, also notices deleted rows. Throws StoreError. */
  async refresh(isFull = false): Promise<void> {
    this.#isFullDue ||= isFull;
    // A refresh in progress may have started before the write that this call must see.
    await this.#running?.catch(() => undefined);
    this.#running ??= this.#load().finally(() => {
      this.#running = undefined;
    });
    await this.#running;
  }

  protected abstract changedSince(sequence: number): Promise<Row[]>;
  protected abstract apply(row: Row): void;
  protected abstract forgetDeleted(): Promise<void>;

  async #load(): Promise<void> {
    for (const row of await this.changedSince(this.#lastSequence)) {
      this.#lastSequence = row.change_seq;
      this.apply(row);
    }
    if (!this.#isFullDue) return;
    await this.forgetDeleted();
    this.#isFullDue = false;
  }
}

export interface InstalledWorkspacesDeps extends InstallationDeps {
  tokenGateFor: (installation: string) => CredentialGate;
  /** Creates the calls of a workspace. `uninstalled` is aborted when the app is uninstalled there. */
  createWorkspace: (
    installation: Installation,
    gate: CredentialGate,
    uninstalled: AbortSignal,
  ) => WorkspaceClient;
}

interface WorkspaceEntry {
  row: InstalledWorkspace;
  /** Undefined once the app is uninstalled. */
  token: string | undefined;
  installation: Installation;
  gate: CredentialGate;
  uninstalled: AbortController;
  /** Created at its first use; undefined again when nobody has asked for it for an hour. */
  workspace: WorkspaceClient | undefined;
  /** The same, for as long as a turn still has it. */
  lastWorkspace: WeakRef<WorkspaceClient> | undefined;
  /** As `performance.now()`. */
  usedAt: number;
}

/** After this time without use (ms), a workspace's clients and caches are given up. */
const UNUSED_AFTER_MS = 3_600_000;

/** How long Slack's list of an organisation's workspaces is kept (ms): one that was just added must be found soon. */
const ORGANISATION_TTL_MS = 10_000;
const MAX_ORGANISATIONS = 200;

/** The workspaces that have installed the app by OAuth. */
export class InstalledWorkspaces extends RefreshedRows<InstalledWorkspace> implements WorkspaceRegistry {
  readonly #deps: InstalledWorkspacesDeps;
  readonly #entries = new Map<string, WorkspaceEntry>();
  /** Workspaces whose tokens cannot be decrypted: each is named once. */
  readonly #leftOut = new Set<string>();
  readonly #organisations = ttlCache<ReadonlySet<string>, { organisation: string; tokens: string }>(
    MAX_ORGANISATIONS,
    ORGANISATION_TTL_MS,
    (_key, { organisation, tokens }) => this.#listWorkspaces(organisation, tokens),
  );

  constructor(deps: InstalledWorkspacesDeps) {
    super();
    this.#deps = deps;
  }

  ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  ofBot(userId: string): readonly string[] {
    const found = [...this.#entries].filter(([, { row }]) => row.bot_user_id === userId);
    return found.map(([id]) => id);
  }

  organisationOf(id: string): string | undefined {
    return this.#entries.get(id)?.row.enterprise_id ?? undefined;
  }

  workspace(id: string): WorkspaceClient | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.usedAt = performance.now();
    entry.workspace ??=
      entry.lastWorkspace?.deref() ??
      this.#deps.createWorkspace(entry.installation, entry.gate, entry.uninstalled.signal);
    return entry.workspace;
  }

  async find(query: InstallationQuery): Promise<WorkspaceClient | undefined> {
    return (await this.#findEntry(query)) && this.workspace(query.workspace);
  }

  tokenRefusedSince(): undefined {
    return undefined;
  }

  refusedOwnTokenCount(): number {
    const refused = [...this.#entries.values()].filter(({ gate }) => gate.refusedSince !== undefined);
    return refused.length + this.#leftOut.size;
  }

  missingScopes(): readonly string[] {
    return [...this.#entries.values()].flatMap(({ installation }) => installation.missingScopes ?? []);
  }

  protected changedSince(sequence: number): Promise<InstalledWorkspace[]> {
    return this.#deps.store.installations.changedSince(sequence);
  }

  protected apply(row: InstalledWorkspace): void {
    try {
      this.#apply(row);
      this.#leftOut.delete(row.workspace);
    } catch (err) {
      const { workspace } = row;
      this.#remove(workspace);
      if (this.#leftOut.has(workspace)) return;
      this.#leftOut.add(workspace);
      this.#deps.log.error({ workspace, err }, 'decrypting the tokens of a workspace failed');
    }
  }

  protected async forgetDeleted(): Promise<void> {
    this.#giveUpUnused();
    const present = new Set(await this.#deps.store.installations.workspaceIds());
    for (const id of this.#entries.keys()) if (!present.has(id)) this.#remove(id);
    for (const id of this.#leftOut) if (!present.has(id)) this.#leftOut.delete(id);
  }

  #giveUpUnused(): void {
    for (const entry of this.#entries.values()) {
      if (entry.workspace === undefined || performance.now() - entry.usedAt < UNUSED_AFTER_MS) continue;
      entry.lastWorkspace = new WeakRef(entry.workspace);
      entry.workspace = undefined;
    }
  }

  async #findEntry(query: InstallationQuery): Promise<WorkspaceEntry | undefined> {
    if (!query.workspace.startsWith('T')) return undefined;
    const { workspace, organisation } = query;
    if (!this.#entries.has(workspace)) await this.refresh();
    const known = this.#entries.get(workspace);
    const isOfOrganisation = [known?.row.installation_id, known?.row.enterprise_id].includes(organisation);
    if (organisation === undefined || isOfOrganisation) return known;
    // In a shared channel Slack may name a workspace of the other organisation.
    const version = await this.#versionListing(organisation, workspace);
    if (version === undefined) return undefined;
    if (known !== undefined) return known;
    const isAttached = await this.#deps.store.installations.attachWorkspace(workspace, organisation, version);
    // The installation has changed since: perhaps the workspace's access was revoked.
    if (!isAttached) return this.#findEntry(query);
    await this.refresh();
    return this.#entries.get(workspace);
  }

  /** The `change_seq` with which an organisation has a workspace, as only Slack's own list says; undefined if it has not. Throws StoreError and SlackError. */
  async #versionListing(organisation: string, workspace: string): Promise<number | undefined> {
    const row = await this.#deps.store.installations.get(organisation);
    if (row === undefined || !row.is_enterprise_install || row.encrypted_tokens === null) return undefined;
    const { encrypted_tokens: tokens, change_seq } = row;
    const key = `${organisation}/${change_seq}`;
    const listed = await this.#organisations.forceFetch(key, { context: { organisation, tokens } });
    return listed.has(workspace) ? change_seq : undefined;
  }

  async #listWorkspaces(organisation: string, tokens: string): Promise<ReadonlySet<string>> {
    const { keyring, slack } = this.#deps;
    try {
      return await slack.workspacesOf(decryptTokens(keyring, organisation, tokens).bot.token);
    } catch (error) {
      if (error instanceof DecryptionError || error instanceof SlackAuthError || isPermanentRefusal(error))
        return new Set();
      throw error;
    }
  }

  #apply(row: InstalledWorkspace): void {
    const { installation_id, encrypted_tokens } = row;
    const token =
      encrypted_tokens === null
        ? undefined
        : decryptTokens(this.#deps.keyring, installation_id, encrypted_tokens).bot.token;
    const known = this.#entries.get(row.workspace);
    const isSameBot = OF_BOT.every((column) => known?.row[column] === row[column]);
    if (token !== undefined && known !== undefined && isSameBot) {
      known.row = row;
      if (known.token !== token) known.gate.accepted();
      known.token = token;
      return;
    }
    this.#remove(row.workspace);
    if (token === undefined) return;
    const entry: WorkspaceEntry = {
      row,
      token,
      installation: installationOf(row, () => entry.token),
      gate: this.#deps.tokenGateFor(row.installation_id),
      uninstalled: new AbortController(),
      workspace: undefined,
      lastWorkspace: undefined,
      usedAt: 0,
    };
    this.#entries.set(row.workspace, entry);
  }

  #remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    entry.token = undefined;
    entry.uninstalled.abort();
    this.#deps.log.info({ workspace: id }, 'the app was uninstalled; no longer serving the workspace');
  }
}

/** What tells one installed bot from another. */
const OF_BOT = ['installation_id', 'bot_user_id', 'bot_id'] as const;

/** An installation that always has the newest known token. */
function installationOf(row: InstalledWorkspace, currentToken: () => string | undefined): Installation {
  return {
    workspace: row.workspace,
    botUser: row.bot_user_id,
    botId: row.bot_id,
    isOrgToken: row.is_enterprise_install,
    get token() {
      const token = currentToken();
      if (token !== undefined) return token;
      throw notInstalled();
    },
  };
}

/** What a call in a workspace fails with that has no installation, or no more. */
export function notInstalled(): SlackAuthError {
  const call = { method: 'any', slackCode: 'app_uninstalled', outcome: 'none' } as const;
  return new SlackAuthError(call, 'The app is not installed in this workspace.', true);
}

export interface InstallationQuery {
  workspace: string;
  /** The organisation (`E…`) whose installation it is for; left out for the workspace's own. */
  organisation?: string | undefined;
}

/** The workspaces where the app is installed. */
export interface WorkspaceRegistry {
  ids(): readonly string[];
  /** The workspaces that have this user as their bot: several of one organisation, or one. */
  ofBot(userId: string): readonly string[];
  organisationOf(id: string): string | undefined;
  /** Undefined if the app is not installed, as far as this process knows. */
  workspace(id: string): WorkspaceClient | undefined;
  /** The same, but also asks the store and, for an organisation, Slack. Throws StoreError, or a SlackError. */
  find(at: InstallationQuery): Promise<WorkspaceClient | undefined>;
  tokenRefusedSince(): Date | undefined;
  /** How many workspaces' own tokens Slack refuses, or cannot be decrypted. */
  refusedOwnTokenCount(): number;
  /** The scopes that the app lacks, as far as Slack has said: as often as workspaces lack them. */
  missingScopes(): readonly string[];
}
