import { type Kysely, sql } from 'kysely';
import { fromNow } from '../clock.ts';
import type { InstallationRow, Tables } from '../schema.ts';
import { lockChangeSequence, nextChangeSeq } from './change-sequence.ts';

/** An installation as it is written down. */
export type NewInstallation = Pick<
  InstallationRow,
  'workspace' | 'enterprise' | 'organisation' | 'name' | 'bot_user' | 'bot_id' | 'expires_at'
> & { sealed: string };

/** A workspace, and whose token is used there. */
export interface InstalledWorkspace {
  /** The workspace (`T…`). */
  workspace: string;
  /** The row of its installation: its own, or its organisation's. */
  installation: string;
  enterprise: string | null;
  organisation: boolean;
  bot_user: string;
  bot_id: string;
  /** Null where the app is not installed there any more. */
  sealed: string | null;
  version: number;
}

/** Tokens that took the place of others. */
export interface RotatedTokens {
  sealed: string;
  expiresAt: Date | null;
}

/** How often it is tried to keep tokens that are renewed. */
const MAX_SAVE_ATTEMPTS = 3;

/** Workspaces and organisations in which the app is installed by OAuth. */
export class Installations {
  readonly #db: Kysely<Tables>;

  constructor(db: Kysely<Tables>) {
    this.#db = db;
  }

  /** Writes an installation down, in place of the one before; what the app left lives again. */
  async put(row: NewInstallation): Promise<void> {
    await this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      const values = {
        ...row,
        installed_at: sql<Date>`clock_timestamp()`,
        left_at: null,
        version: nextChangeSeq,
      };
      await trx
        .insertInto('installations')
        .values(values)
        .onConflict((conflict) => conflict.column('workspace').doUpdateSet(values))
        .execute();
      if (!row.organisation) await this.#attach(trx, row.workspace, row.workspace);
      else
        await sql`
          update workspaces set left_at = null, last_receiving_at = null, version = nextval('installation_change_seq'),
            bot_user = ${row.bot_user}, bot_id = ${row.bot_id}
          where installation = ${row.workspace} and access_revoked_at is null and (left_at is not null or bot_user <> ${row.bot_user})`.execute(
          trx,
        );
    });
  }

  /**
   * A workspace of an organisation is seen for the first time, or again: it uses the organisation's installation
   * from now on. False where there is none, or where the organisation took the app from the workspace.
   */
  async attachWorkspace(workspace: string, organisation: string): Promise<boolean> {
    return this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      return this.#attach(trx, workspace, organisation);
    });
  }

  async #attach(trx: Kysely<Tables>, workspace: string, installation: string): Promise<boolean> {
    const { numAffectedRows } = await sql`
      insert into workspaces (workspace, name, bot_user, bot_id, installation)
      select ${workspace}, name, bot_user, bot_id, workspace from installations
      where workspace = ${installation} and left_at is null
      on conflict (workspace) do update set
        name = excluded.name, bot_user = excluded.bot_user, bot_id = excluded.bot_id,
        installation = excluded.installation, left_at = null, access_revoked_at = null,
        -- What was said while the app was away is not made up for.
        last_receiving_at = case when workspaces.left_at is null then workspaces.last_receiving_at end, version = nextval('installation_change_seq')
      where workspaces.access_revoked_at is null or workspaces.installation is distinct from excluded.installation`.execute(
      trx,
    );
    return (numAffectedRows ?? 0n) > 0n;
  }

  async get(workspace: string): Promise<InstallationRow | undefined> {
    return this.#db
      .selectFrom('installations')
      .selectAll()
      .where('workspace', '=', workspace)
      .executeTakeFirst();
  }

  /**
   * The app is not installed there any more: the tokens and the keys of accounts go at once. `organisation` leaves with all its workspaces. False
   * where the row has changed since `version`: then it may be another installation.
   */
  async markUninstalled(workspace: string, version: number): Promise<boolean> {
    return this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      const ended = await trx
        .updateTable('installations')
        .set({
          sealed: null,
          expires_at: null,
          left_at: sql<Date>`clock_timestamp()`,
          version: nextChangeSeq,
        })
        .where('workspace', '=', workspace)
        .where('version', '=', version)
        .where('left_at', 'is', null)
        .returning('workspace')
        .executeTakeFirst();
      if (ended === undefined) return false;
      const left = await trx
        .updateTable('workspaces')
        .set({ left_at: sql<Date>`clock_timestamp()`, version: nextChangeSeq })
        .where('installation', '=', workspace)
        .where('left_at', 'is', null)
        .returning('workspace')
        .execute();
      await deleteApiKeysOf(trx, left);
      return true;
    });
  }

  /** An organisation takes the app from these workspaces, also where it was never used: until they are granted it again. */
  async revokeAccess(organisation: string, workspaces: readonly string[]): Promise<void> {
    if (workspaces.length === 0) return;
    await this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      await sql`
        insert into workspaces (workspace, name, bot_user, bot_id, installation, left_at, access_revoked_at)
        select taken.workspace, name, bot_user, bot_id, installations.workspace, clock_timestamp(), clock_timestamp()
        from installations, unnest(${[...new Set(workspaces)]}::text[]) as taken (workspace)
        where installations.workspace = ${organisation}
        on conflict (workspace) do update set left_at = coalesce(workspaces.left_at, excluded.left_at),
          access_revoked_at = excluded.access_revoked_at, version = nextval('installation_change_seq')
        where workspaces.installation = excluded.installation`.execute(trx);
      const gone = sql<{ workspace: string }>`
        select workspace from workspaces
        where installation = ${organisation} and workspace = any(${[...workspaces]}::text[])`;
      await deleteApiKeysOf(trx, (await gone.execute(trx)).rows);
    });
  }

  /** An organisation gives the app to these workspaces again. */
  async restoreAccess(organisation: string, workspaces: readonly string[]): Promise<void> {
    if (workspaces.length === 0) return;
    await this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      await sql`
        update workspaces set access_revoked_at = null, last_receiving_at = null, version = nextval('installation_change_seq'),
          left_at = (select left_at from installations where installations.workspace = ${organisation})
        where installation = ${organisation} and access_revoked_at is not null
          and workspace = any(${[...workspaces]}::text[])`.execute(trx);
    });
  }

  /** The workspaces of which something has changed since a version. */
  async changedSince(version: number): Promise<InstalledWorkspace[]> {
    const { rows } = await sql<InstalledWorkspace>`
      select workspaces.workspace, installations.workspace as installation, installations.enterprise,
        installations.organisation, installations.bot_user, installations.bot_id,
        case when workspaces.left_at is null then installations.sealed end as sealed,
        greatest(workspaces.version, installations.version) as version
      from workspaces join installations on installations.workspace = workspaces.installation
      where workspaces.version > ${version} or installations.version > ${version}`.execute(this.#db);
    return rows;
  }

  /** Installations whose token ends within `ms`, but for those named; the first hundred. */
  async expiringWithin(ms: number, but: readonly string[]): Promise<string[]> {
    const rows = await this.#db
      .selectFrom('installations')
      .select('workspace')
      .where('expires_at', '<', fromNow(ms))
      .where('sealed', 'is not', null)
      .where(sql<boolean>`workspace <> all(${[...but]}::text[])`)
      .orderBy('expires_at')
      .limit(100)
      .execute();
    return rows.map(({ workspace }) => workspace);
  }

  /**
   * Has an installation's tokens renewed where they end within `ms`. One process does it at a time: a refresh token
   * may be used once, so a lock of its own is held while `renew` asks Slack; the row is free meanwhile, and stays as it
   * is where it became another installation. False where there was nothing to do.
   */
  async rotateTokens(
    workspace: string,
    ms: number,
    renew: (row: InstallationRow) => Promise<RotatedTokens>,
  ): Promise<boolean> {
    return this.#db.transaction().execute(async (trx) => {
      const { rows } = await sql<{ ours: boolean }>`
        select pg_try_advisory_xact_lock(hashtextextended(${`rotate-tokens/${workspace}`}, 0)) as ours`.execute(
        trx,
      );
      if (rows[0]?.ours !== true) return false;
      const row = await trx
        .selectFrom('installations')
        .selectAll()
        .select(sql<string>`installed_at::text`.as('installed'))
        .where('workspace', '=', workspace)
        .where('expires_at', '<', fromNow(ms))
        .where('sealed', 'is not', null)
        .executeTakeFirst();
      if (row === undefined) return false;
      const rotated = await renew(row);
      // The tokens before are spent: what came in their place must not get lost with one connection.
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await this.#saveTokens(row, rotated);
        } catch (error) {
          if (attempt === MAX_SAVE_ATTEMPTS) throw error;
        }
      }
    });
  }

  async #saveTokens(
    row: { workspace: string; installed: string },
    { sealed, expiresAt }: RotatedTokens,
  ): Promise<boolean> {
    return this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      const attempt = await trx
        .updateTable('installations')
        .set({ sealed, expires_at: expiresAt, version: nextChangeSeq })
        .where('workspace', '=', row.workspace)
        .where('left_at', 'is', null)
        .where('installed_at', '=', sql<Date>`${row.installed}::timestamptz`)
        .returning('workspace')
        .executeTakeFirst();
      return attempt !== undefined;
    });
  }

  /** Puts other sealed text in place of what a row has; false where it has changed meanwhile. */
  async replaceEncrypted(workspace: string, before: string, sealed: string): Promise<boolean> {
    const row = await this.#db.transaction().execute(async (trx) => {
      await lockChangeSequence(trx);
      return trx
        .updateTable('installations')
        .set({ sealed, version: nextChangeSeq })
        .where('workspace', '=', workspace)
        .where('sealed', '=', before)
        .returning('workspace')
        .executeTakeFirst();
    });
    return row !== undefined;
  }

  /** What is sealed of all installations. */
  async allEncrypted(): Promise<{ workspace: string; sealed: string }[]> {
    const rows = await this.#db.selectFrom('installations').select(['workspace', 'sealed']).execute();
    return rows.flatMap(({ workspace, sealed }) => (sealed === null ? [] : [{ workspace, sealed }]));
  }
}

/** The accounts stay, so that their threads say what is missing, but nothing can be asked under them any more. */
async function deleteApiKeysOf(trx: Kysely<Tables>, left: readonly { workspace: string }[]): Promise<void> {
  if (left.length === 0) return;
  await trx
    .updateTable('accounts')
    .set({ sealed: null, version: nextChangeSeq })
    .where('sealed', 'is not', null)
    .where(
      'workspace',
      'in',
      left.map(({ workspace }) => workspace),
    )
    .execute();
}
