import { type RawBuilder, type Selectable, sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { isInstalled, isUnclaimed, ofProject, placeInWorkspace } from '../filters.ts';
import { Queries } from '../queries.ts';
import type { ProjectTable } from '../schema/projects.ts';

/** A project that needs its channel's current name and purpose. */
export type DueProjectName = Pick<
  Selectable<ProjectTable>,
  'workspace' | 'channel' | 'account_id' | 'project_id' | 'name_sync_due_at'
>;

/** The sync of project names with channel names: recorded as due first, then done by any process. */
export class ProjectNames extends Queries {
  /** Records that the channel's name or purpose has changed; false if its project is not synced. */
  async markDue(workspace: string, channel: string): Promise<boolean> {
    return this.#markSynced(workspace, sql`channel = ${channel}`);
  }

  /** Records that any channel may have changed, after a gap in receiving. */
  async markAllDue(workspace: string): Promise<void> {
    await this.#markSynced(workspace, sql`true`);
  }

  /** In whole milliseconds, so that the value compares as equal after it was read. */
  async #markSynced(workspace: string, condition: RawBuilder<unknown>): Promise<boolean> {
    return this.changes(sql`
      update projects set name_sync_due_at = date_trunc('milliseconds', clock_timestamp()), name_sync_claimed_until = null
      where workspace = ${workspace} and project_id is not null and ${condition} and exists (
        select from settings where settings.workspace = projects.workspace
          and settings.channel = projects.channel and sync_project_name)`);
  }

  /** Claims due projects for `holdMs`, of each workspace some. */
  async claim(holdMs: number, limit: number): Promise<DueProjectName[]> {
    const order = sql`name_sync_claimed_until nulls first, name_sync_due_at`;
    return this.rows(sql<DueProjectName>`
      with due as (
        select workspace, channel, account_id, ${placeInWorkspace(order)} from projects where ${isNameSyncDue}
      )
      update projects set name_sync_claimed_until = ${fromNow(holdMs)}
      where (workspace, channel, account_id) in (
        select workspace, channel, account_id from projects join due using (workspace, channel, account_id)
        where ${isNameSyncDue} order by place, ${order} limit ${limit} for update of projects skip locked)
      returning workspace, channel, account_id, project_id, name_sync_due_at`);
  }

  /** The project has the name; it stays due if the channel changed again meanwhile. */
  async complete(due: DueProjectName): Promise<void> {
    await this.#updateUnchanged(due, sql`name_sync_due_at = null, name_sync_claimed_until = null`);
  }

  /** The sync failed: the project is due again in `ms`. */
  async retryLater(due: DueProjectName, ms: number): Promise<void> {
    await this.#updateUnchanged(due, sql`name_sync_claimed_until = ${fromNow(ms)}`);
  }

  async #updateUnchanged(due: DueProjectName, change: RawBuilder<unknown>): Promise<void> {
    await this.changes(sql`
      update projects set ${change} where ${ofProject(due)} and name_sync_due_at = ${due.name_sync_due_at}`);
  }
}

/** Whether a project needs its channel's name, and no process gives it one. For the table of projects. */
export const isNameSyncDue = sql<boolean>`name_sync_due_at <= now() and ${isInstalled}
  and ${isUnclaimed('name_sync_claimed_until')}`;
