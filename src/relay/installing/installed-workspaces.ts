import type { Logger } from 'pino';
import type { Installation } from '../../slack/client.ts';
import { Unauthorized } from '../../slack/errors.ts';
import type { InstalledWorkspace } from '../../store/installations.ts';
import { type Keyring, SealError } from '../../store/keyring.ts';
import type { Store } from '../../store/store.ts';
import type { Workspace } from '../context.ts';
import type { ObservedGate } from '../workspaces.ts';
import type { Authorization, Installed, Whereabouts } from './installed.ts';
import type { Reach } from './reach.ts';
import { openTokens } from './tokens.ts';

/** What knowing the installed workspaces needs. */
export interface InstalledParts {
  store: Pick<Store, 'installations'>;
  keyring: Keyring;
  /** Tells whether an organisation's installation is for a workspace too. */
  reach: Pick<Reach, 'includes'>;
  /** Stops calls with a token that was refused. */
  gateOf: (installation: string) => ObservedGate;
  /** Builds the calls of a workspace; `gone` tells when it is left. */
  build: (installation: Installation, gate: ObservedGate, gone: AbortSignal) => Workspace;
  log: Logger;
}

/** A workspace as this process knows it. */
interface Entry {
  row: InstalledWorkspace;
  /** Undefined once the app is not installed there any more. */
  token: string | undefined;
  installation: Installation;
  gate: ObservedGate;
  left: AbortController;
  /** Built when it is used first. */
  workspace: Workspace | undefined;
}

/** The workspaces that have installed the app by OAuth. */
export class InstalledWorkspaces implements Installed {
  readonly #parts: InstalledParts;
  readonly #entries = new Map<string, Entry>();
  #version = 0;
  #reading: Promise<void> | undefined;

  constructor(parts: InstalledParts) {
    this.#parts = parts;
  }

  ids(): readonly string[] {
    return [...this.#entries.keys()];
  }

  workspace(id: string): Workspace | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    entry.workspace ??= this.#parts.build(entry.installation, entry.gate, entry.left.signal);
    return entry.workspace;
  }

  async find(at: Whereabouts): Promise<Workspace | undefined> {
    return (await this.#entry(at)) && this.workspace(at.workspace);
  }

  async authorization(at: Whereabouts): Promise<Authorization | undefined> {
    const entry = await this.#entry(at);
    if (entry?.token === undefined) return undefined;
    const { bot_user: botUserId, bot_id: botId } = entry.row;
    return { botToken: entry.token, botUserId, botId, teamId: at.workspace };
  }

  refusedSince(): undefined {
    return undefined;
  }

  ownRefused(): number {
    return [...this.#entries.values()].filter(({ gate }) => gate.refusedSince !== undefined).length;
  }

  /** Reads what has changed since the last time; `whole` also notices rows that were deleted. Throws StoreError. */
  async refresh(whole = false): Promise<void> {
    // What was written before this call must be seen by it: a reading under way may have begun too early.
    await this.#reading?.catch(() => undefined);
    this.#reading ??= this.#read(whole).finally(() => {
      this.#reading = undefined;
    });
    await this.#reading;
  }

  async #read(whole: boolean): Promise<void> {
    const rows = await this.#parts.store.installations.changedSince(whole ? 0 : this.#version);
    for (const row of rows) {
      this.#version = Math.max(this.#version, row.version);
      this.#take(row);
    }
    if (!whole) return;
    const there = new Set(rows.map(({ workspace }) => workspace));
    for (const id of this.#entries.keys()) if (!there.has(id)) this.#drop(id);
  }

  async #entry(at: Whereabouts): Promise<Entry | undefined> {
    if (!at.workspace.startsWith('T')) return undefined;
    const { workspace, organisation } = at;
    if (!this.#entries.has(workspace)) await this.refresh();
    const known = this.#entries.get(workspace);
    if (organisation === undefined || (known !== undefined && belongsTo(known.row, organisation)))
      return known;
    // In a shared channel Slack may name a workspace of the other organisation.
    if (!(await this.#parts.reach.includes(organisation, workspace))) {
      this.#parts.log.debug({ workspace, organisation }, 'a workspace is none of the organisation');
      return undefined;
    }
    if (known !== undefined) return known;
    if (!(await this.#parts.store.installations.discover(workspace, organisation))) return undefined;
    await this.refresh();
    return this.#entries.get(workspace);
  }

  #take(row: InstalledWorkspace): void {
    const token = this.#open(row);
    const known = this.#entries.get(row.workspace);
    if (token === undefined) {
      if (known !== undefined) this.#drop(row.workspace);
      return;
    }
    if (known !== undefined && isSameBot(known.row, row)) {
      known.row = row;
      if (known.token !== token) known.gate.accepted();
      known.token = token;
      return;
    }
    if (known !== undefined) this.#drop(row.workspace);
    const entry: Entry = {
      row,
      token,
      installation: installationOf(row, () => entry.token),
      gate: this.#parts.gateOf(row.installation),
      left: new AbortController(),
      workspace: undefined,
    };
    this.#entries.set(row.workspace, entry);
    this.#parts.log.info({ workspace: row.workspace }, 'the app is installed in this workspace');
  }

  #open({ installation, sealed }: InstalledWorkspace): string | undefined {
    if (sealed === null) return undefined;
    try {
      return openTokens(this.#parts.keyring, installation, sealed).bot.token;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.#parts.log.error(
        { workspace: installation, err: error },
        'the tokens of a workspace cannot be read',
      );
      return undefined;
    }
  }

  #drop(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    entry.token = undefined;
    entry.left.abort();
    this.#parts.log.info({ workspace: id }, 'the app is not installed in this workspace any more');
  }
}

function belongsTo(row: InstalledWorkspace, organisation: string): boolean {
  return row.installation === organisation || row.enterprise === organisation;
}

function isSameBot(one: InstalledWorkspace, other: InstalledWorkspace): boolean {
  return (
    one.installation === other.installation &&
    one.bot_user === other.bot_user &&
    one.bot_id === other.bot_id &&
    one.enterprise === other.enterprise
  );
}

/** An installation whose token is always the newest that is known. */
function installationOf(row: InstalledWorkspace, tokenNow: () => string | undefined): Installation {
  return {
    workspace: row.workspace,
    botUser: row.bot_user,
    botId: row.bot_id,
    enterprise: row.organisation ? row.installation : (row.enterprise ?? undefined),
    organisation: row.organisation,
    get token() {
      const token = tokenNow();
      if (token !== undefined) return token;
      const call = { method: 'any', slackCode: 'app_uninstalled', outcome: 'none' } as const;
      throw new Unauthorized(call, 'The app was uninstalled in this workspace.', { dead: true });
    },
  };
}
