import { sql } from 'kysely';
import type { SourceCheck, SourceChecks, SourceId } from '../../registries/source-check.ts';
import { isTurn, Queries, toPostgresJson } from '../queries.ts';
import type { TurnId } from '../schema.ts';

/** What registries answered to a workspace lately. */
export class RegistryAnswers extends Queries {
  async get(workspace: string, ids: readonly SourceId[]): Promise<SourceChecks> {
    const rows = await this.rows(sql<{ source_id: SourceId; source_check: SourceCheck }>`
      select source_id, source_check from registry_answers
      where workspace = ${workspace} and source_id = any(${[...ids]}::text[]) and expires_at > now()`);
    return Object.fromEntries(rows.map(({ source_id, source_check }) => [source_id, source_check]));
  }

  /** Records what is known of the sources of a turn's answer; false if its asker was forgotten. */
  async record(turn: TurnId, checks: SourceChecks): Promise<boolean> {
    return this.changes(sql`
      update turns set source_checks = ${toPostgresJson(checks)} where ${isTurn(turn)} and asked_by <> ''`);
  }

  /** Keeps answers for 30 days, and for one day those that there is no such publication. */
  async put(workspace: string, checks: ReadonlyMap<SourceId, SourceCheck>): Promise<void> {
    if (checks.size === 0) return;
    const texts = [...checks.values()].map(toPostgresJson);
    await this.changes(sql`
      insert into registry_answers (workspace, source_id, source_check, expires_at)
      select ${workspace}, id, source_check::jsonb, now() + case
        when source_check::jsonb ->> 'state' = 'not_found' then interval '1 day' else interval '30 days' end
      from unnest(${[...checks.keys()]}::text[], ${texts}::text[]) as given (id, source_check) order by id
      on conflict (workspace, source_id) do update
        set source_check = excluded.source_check, expires_at = excluded.expires_at`);
  }
}
