import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely';
import { StoreError } from '../errors.ts';
import { changesRow, isUnclaimed, millis, nextTry, Queries } from '../queries.ts';
import type { EchoState, InstallationRow, Tables } from '../schema.ts';

type RenewalClaim = 'renewal_tried_since' | 'renewal_due_at';

/**
 * How long before its end a token's renewal is due (ms), of the twelve hours that it lasts: at the least long enough for
 * 8,000 that are due at once, and for each workspace another time, so that tokens issued together are not renewed together.
 */
const RENEW_AHEAD_MS = { least: 2 * 60 * 60_000, most: 4 * 60 * 60_000 };
/** The longest pause after repeated failures of one renewal (ms): while the token is valid, and later. */
const MAX_RENEWAL_PAUSE_MS = { valid: 10 * 60_000, expired: 60 * 60_000 };

/** Whether a token's renewal is due. For the table of installations. */
export const isRenewalDue = sql<boolean>`encrypted_tokens is not null
  and token_expires_at < now() + ${millis(RENEW_AHEAD_MS.most)}
  and token_expires_at < now() + ${millis(RENEW_AHEAD_MS.least)}
    + abs(hashtextextended(workspace, 0) % 1000)::float8 / 1000 * ${millis(RENEW_AHEAD_MS.most - RENEW_AHEAD_MS.least)}`;

export type NewInstallation = Omit<
  InstallationRow,
  'encrypted_tokens' | 'installed_at' | 'uninstalled_at' | 'change_seq' | RenewalClaim
> & { encrypted_tokens: string };

/** A workspace (`T…`) and the installation whose token it uses; without tokens if the app is no longer installed there. */
export interface InstalledWorkspace
  extends Omit<
    InstallationRow,
    'name' | 'token_expires_at' | 'installed_at' | 'uninstalled_at' | RenewalClaim
  > {
  /** The workspace or organisation of its installation. */
  installation_id: string;
}

/** An installation whose tokens a process renews. */
export interface ClaimedRenewal {
  workspace: string;
  encrypted_tokens: string;
  /** Tells whether it is still the same installation. */
  installed: string;
}

/** OAuth installations of workspaces and organisations. */
export class Installations extends Queries {
  /** Saves an installation, in place of an earlier one; its uninstalled workspaces become active again. */
  async put(row: NewInstallation): Promise<void> {
    await inChangeSequence(this.db, async (trx) => {
      const current = {
        installed_at: sql<Date>`clock_timestamp()`,
        uninstalled_at: null,
        renewal_tried_since: null,
        renewal_due_at: null,
      };
      const values = { ...row, ...current, change_seq: nextChangeSeq };
      await trx
        .insertInto('installations')
        .values(values)
        .onConflict((conflict) => conflict.column('workspace').doUpdateSet(values))
        .execute();
      const { workspace, bot_user_id, bot_id } = row;
      const reactivation = sql`
        update workspaces set uninstalled_at = null, last_receiving_at = null, change_seq = ${nextChangeSeq},
          bot_user_id = ${bot_user_id}, bot_id = ${bot_id}
        where installation_id = ${workspace} and access_revoked_at is null
          and (uninstalled_at is not null or bot_user_id <> ${bot_user_id})`;
      if (row.is_enterprise_install) await reactivation.execute(trx);
      else await this.#attach(trx, workspace, workspace);
    });
  }

  /**
   * Attaches a workspace, which Slack lists, to its organisation's installation. False if there is none, or it has changed
   * after `version`.
   */
  async attachWorkspace(workspace: string, organisation: string, version?: number): Promise<boolean> {
    return inChangeSequence(this.db, (trx) => this.#attach(trx, workspace, organisation, version));
  }

  async #attach(trx: Kysely<Tables>, workspace: string, installation: string, version?: number) {
    const isCurrent = version === undefined ? sql`true` : sql`change_seq = ${version}`;
    const attached = sql`
      insert into workspaces (workspace, name, bot_user_id, bot_id, installation_id)
      select ${workspace}, name, bot_user_id, bot_id, workspace from installations
      where workspace = ${installation} and uninstalled_at is null and ${isCurrent}
      on conflict (workspace) do update set
        name = excluded.name, bot_user_id = excluded.bot_user_id, bot_id = excluded.bot_id,
        installation_id = excluded.installation_id, uninstalled_at = null, access_revoked_at = null,
        -- Messages from the time without the app are not read back.
        last_receiving_at = case when workspaces.uninstalled_at is null then workspaces.last_receiving_at end, change_seq = nextval('installation_change_seq')`;
    return changesRow(trx, attached);
  }

  async get(workspace: string): Promise<InstallationRow | undefined> {
    return this.first(sql<InstallationRow>`select * from installations where workspace = ${workspace}`);
  }

  /**
   * Records that the app was uninstalled, and deletes the tokens and the keys of accounts; for an organisation, in all
   * its workspaces. False if the row has changed after `version`: it may be another installation.
   */
  async markUninstalled(workspace: string, version: number): Promise<boolean> {
    return inChangeSequence(this.db, async (trx) => {
      const ended = sql`
        update installations set encrypted_tokens = null, token_expires_at = null, uninstalled_at = clock_timestamp(),
          change_seq = ${nextChangeSeq}
        where workspace = ${workspace} and change_seq = ${version} and uninstalled_at is null`;
      if (!(await changesRow(trx, ended))) return false;
      const left = sql`
        update workspaces set uninstalled_at = clock_timestamp(), change_seq = ${nextChangeSeq}
        where installation_id = ${workspace} and uninstalled_at is null returning workspace`;
      await apiKeyDeletion(left).execute(trx);
      return true;
    });
  }

  /** An organisation revokes the access of these workspaces. Its installation changes: what Slack listed before is too old. */
  async revokeAccess(organisation: string, workspaces: readonly string[]): Promise<void> {
    const revoked = sql`
      update workspaces set uninstalled_at = coalesce(uninstalled_at, clock_timestamp()),
        access_revoked_at = clock_timestamp(), change_seq = ${nextChangeSeq}
      where installation_id = ${organisation} and workspace = any(${[...workspaces]}::text[]) returning workspace`;
    const outdated = sql`update installations set change_seq = ${nextChangeSeq} where workspace = ${organisation}`;
    await inChangeSequence(this.db, async (trx) => {
      await apiKeyDeletion(revoked).execute(trx);
      await outdated.execute(trx);
    });
  }

  /** The workspaces that changed after a version, in the order of their changes. */
  async changedSince(version: number): Promise<InstalledWorkspace[]> {
    return this.rows(sql<InstalledWorkspace>`
      select workspaces.workspace, installations.workspace as installation_id, installations.enterprise_id,
        installations.is_enterprise_install, installations.bot_user_id, installations.bot_id,
        case when workspaces.uninstalled_at is null then installations.encrypted_tokens end as encrypted_tokens,
        greatest(workspaces.change_seq, installations.change_seq) as change_seq
      from workspaces join installations on installations.workspace = workspaces.installation_id
      -- By indexes, whatever the plan: a token that is renewed has nobody read all workspaces.
      where workspaces.workspace = any(array(select workspace from workspaces where change_seq > ${version} order by change_seq))
        or installation_id = any(array(select workspace from installations where change_seq > ${version} order by change_seq))
      order by change_seq`);
  }

  /** The workspaces that have, or had, an installation. */
  async workspaceIds(): Promise<string[]> {
    const rows = await this.rows(sql<{ workspace: string }>`
      select workspaces.workspace from workspaces
      join installations on installations.workspace = workspaces.installation_id`);
    return rows.map(({ workspace }) => workspace);
  }

  /** Whether a renewal can be claimed, except for those of the given workspaces. */
  async hasDueRenewal(except: readonly string[]): Promise<boolean> {
    return this.exists(sql`select from installations where ${isRenewalClaimable(except)} limit 1`);
  }

  /**
   * Claims the renewal of the token that expires first, except for those of the given workspaces: until it is saved, the
   * next claim comes after `claimMs`, later after as long as it has been tried so far.
   */
  async claimRenewal(except: readonly string[], claimMs: number): Promise<ClaimedRenewal | undefined> {
    const next = (longest: number) => nextTry('renewal_tried_since', { shortest: claimMs, longest });
    return this.first(sql<ClaimedRenewal>`
      update installations set renewal_tried_since = coalesce(renewal_tried_since, clock_timestamp()),
        renewal_due_at = case when token_expires_at > now() then ${next(MAX_RENEWAL_PAUSE_MS.valid)}
          else ${next(MAX_RENEWAL_PAUSE_MS.expired)} end
      where workspace = (
        select workspace from installations where ${isRenewalClaimable(except)}
        order by token_expires_at limit 1 for update skip locked)
      returning workspace, encrypted_tokens, installed_at::text as installed`);
  }

  /** Saves renewed tokens, and ends the claim; false if the app was uninstalled or installed anew meanwhile. */
  async saveRenewed(
    { workspace, installed }: ClaimedRenewal,
    encryptedTokens: string,
    expiresAt: Date,
  ): Promise<boolean> {
    const saved = sql`
      update installations set encrypted_tokens = ${encryptedTokens}, token_expires_at = ${expiresAt},
        renewal_tried_since = null, renewal_due_at = null, change_seq = ${nextChangeSeq}
      where workspace = ${workspace} and uninstalled_at is null and installed_at = ${installed}::timestamptz`;
    return inChangeSequence(this.db, (trx) => changesRow(trx, saved));
  }

  /** Marks the state of an OAuth flow as used; false if it was before: each completes one installation. */
  async markStateUsed(state: string): Promise<boolean> {
    return this.changes(sql`insert into used_oauth_states (state) values (${state}) on conflict do nothing`);
  }
}

function isRenewalClaimable(except: readonly string[]) {
  return sql<boolean>`
    ${isRenewalDue} and workspace <> all(${[...except]}::text[]) and ${isUnclaimed('renewal_due_at')}`;
}

/** The accounts stay, so that their threads can say what is missing, but can no longer be used. */
function apiKeyDeletion(workspaces: RawBuilder<unknown>) {
  return sql`
    with gone as (${workspaces})
    update accounts set encrypted_api_key = null, change_seq = ${nextChangeSeq}
    where encrypted_api_key is not null and workspace in (select workspace from gone)`;
}

/** How long ago (s) a bot may have received events that still runs: it records that every 15 s. */
const RUNNING_SECONDS = 30;

/** The Slack workspaces that the bot is installed in. */
export class Workspaces extends Queries {
  /**
   * Saves a workspace that uses the token of the settings; one that had uninstalled the app is active again. Throws a
   * StoreError `denied` while another bot of the workspace runs on this database.
   */
  async put(row: { workspace: string; name: string; bot_user_id: string; bot_id: string }): Promise<void> {
    const isSaved = await this.changes(sql`
      insert into workspaces (workspace, name, bot_user_id, bot_id)
      select ${row.workspace}, ${row.name}, ${row.bot_user_id}, ${row.bot_id}
      where not exists (
        select from workspaces left join receiving on true
        where workspace = ${row.workspace} and bot_user_id <> ${row.bot_user_id} and uninstalled_at is null
          and ${lastReceiving('receiving')} > now() - ${RUNNING_SECONDS} * interval '1 s')
      on conflict (workspace) do update set name = excluded.name, bot_user_id = excluded.bot_user_id,
        bot_id = excluded.bot_id, installation_id = null, uninstalled_at = null, access_revoked_at = null,
        -- Messages from the time without the app are not read back.
        last_receiving_at = case when workspaces.uninstalled_at is null then workspaces.last_receiving_at end`);
    const refusal = `Another bot of ${row.name} used this database seconds ago: stop that bot and wait half a minute, or set another DATABASE_URL.`;
    if (!isSaved) throw new StoreError('denied', refusal);
  }

  /**
   * Records that events of these workspaces can be received now, except where they were last received more than `gapMs`
   * ago; with `areAll`, it is all that this process serves, for which one row is written. Returns those that need
   * `recordReceiving`: these, and those whose posts do not come back.
   */
  async recordAllReceiving(workspaces: readonly string[], gapMs: number, areAll = false): Promise<string[]> {
    if (workspaces.length === 0) return [];
    const ours = sql`workspace = any(${[...workspaces]}::text[])`;
    const isSilent = sql`coalesce(${lastReceiving('receiving')} < now() - ${millis(gapMs)}, false)`;
    const hadGap = sql`receiving.until < now() - ${millis(gapMs)}`;
    // What another process records, or has recorded just now, need not be written again.
    const rows = await this.rows(sql<{ workspace: string }>`
      with extended as (
        insert into receiving (is_only) select true where ${areAll}::boolean
        on conflict (is_only) do update set until = now(),
          since = case when ${hadGap} then now() else receiving.since end,
          since_before = case when ${hadGap} then receiving.since else receiving.since_before end,
          until_before = case when ${hadGap} then receiving.until else receiving.until_before end
        where receiving.until < now() - interval '10 s'
        returning *
      ), current as (
        select * from extended union all select * from receiving where not exists (select from extended)
      ), due as (
        select workspace from workspaces left join receiving on true left join current on true
        where ${ours} and not ${isSilent}
          and (last_receiving_at is null or ${lastReceiving('current')} < now() - interval '10 s')
        for no key update of workspaces skip locked
      ), recorded as (
        update workspaces set last_receiving_at = now() from due where workspaces.workspace = due.workspace)
      select workspace from workspaces left join receiving on true
      where ${ours} and (${isSilent} or unheard_since is not null or judged_deaf_at is not null)`);
    return rows.map(({ workspace }) => workspace);
  }

  /**
   * Reads whether a workspace's events arrive and, with `isReceiving`, records that they can now. If they were last
   * received more than `gapMs` ago, `gap_since` says when, to one process; in a transaction that records what to do,
   * exactly once. The row stays locked until that ends. Undefined if there is no such workspace.
   */
  async recordReceiving(workspace: string, gapMs: number, isReceiving: boolean) {
    return this.first(sql<EchoState & { now: Date; gap_since: Date | null }>`
      with before as (
        select ${lastReceiving('receiving')} as last_receiving_at, clock_timestamp() as now
        from workspaces left join receiving on true where workspace = ${workspace} for update of workspaces
      )
      update workspaces
      set last_receiving_at = greatest(before.last_receiving_at, case when ${isReceiving} then before.now end)
      from before where workspaces.workspace = ${workspace}
      returning before.now, unheard_posts, unheard_since, heard_at, judged_deaf_at,
        case when ${isReceiving} and before.last_receiving_at < before.now - ${millis(gapMs)}
          then before.last_receiving_at end as gap_since
    `);
  }

  /** Saves a change of what `recordReceiving` read. */
  async saveEchoes(workspace: string, echoes: EchoState): Promise<void> {
    await this.db.updateTable('workspaces').set(echoes).where('workspace', '=', workspace).execute();
  }
}

/** When a workspace's events could last be received, by its own row and by that of `receiving`; null if they never could. */
function lastReceiving(receiving: 'receiving' | 'current') {
  const of = (column: string) => sql.ref(`${receiving}.${column}`);
  return sql`greatest(last_receiving_at, case
    when last_receiving_at >= ${of('since')} then ${of('until')}
    when last_receiving_at >= ${of('since_before')} then ${of('until_before')} end)`;
}

/** The version of a change of a workspace, an installation or an account. */
export const nextChangeSeq: RawBuilder<number> = sql<number>`nextval('installation_change_seq')`;

/** Makes changes in a transaction under `lockChangeSequence`. */
export async function inChangeSequence<T>(
  db: Kysely<Tables>,
  work: (trx: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    await lockChangeSequence(trx);
    return work(trx);
  });
}

/**
 * Makes this transaction's changes visible after all changes with lower versions, so that a reader that has seen a
 * version has seen all before it. Call it before the first `nextChangeSeq` of a transaction.
 */
export async function lockChangeSequence(trx: Kysely<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('installation-changes', 0))`.execute(trx);
}
