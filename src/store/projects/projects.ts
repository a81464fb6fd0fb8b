import { type OperationNodeSource, sql } from 'kysely';
import { fromNow } from '../clock.ts';
import { isUnclaimed, ofProject } from '../filters.ts';
import type { ProjectKey } from '../keys.ts';
import { changesRow, Queries } from '../queries.ts';

/** The outcome of claiming a channel's project. */
export type ProjectClaim =
  | { kind: 'known'; projectId: string }
  /** This turn must create it; `orphaned`: an earlier attempt may have created one that cannot be found. */
  | { kind: 'ours'; orphaned: boolean }
  /** Another turn is creating it. */
  | { kind: 'taken' };

/** The projects of channels. */
export class Projects extends Queries {
  /** Returns the channel's project, or claims the right to create it for `leaseMs`. */
  async claim(key: ProjectKey, turn: string, leaseMs: number): Promise<ProjectClaim> {
    const known = await this.projectIdOf(key);
    if (known !== undefined) return { kind: 'known', projectId: known };
    await this.db
      .insertInto('projects')
      .values(key)
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const claimed = await this.#update(key)
      .set({
        claimed_by: turn,
        claimed_until: fromNow(leaseMs),
      })
      .where('project_id', 'is', null)
      .where((where) => where.or([where('claimed_by', '=', turn), isUnclaimed()]))
      .returning('create_intended_at')
      .executeTakeFirst();
    if (claimed !== undefined) return { kind: 'ours', orphaned: claimed.create_intended_at !== null };
    const projectId = await this.projectIdOf(key);
    return projectId === undefined ? { kind: 'taken' } : { kind: 'known', projectId };
  }

  /** Records that the project is about to be created, and renews the claim; false if the claim was lost. */
  async intend(key: ProjectKey, turn: string, leaseMs: number): Promise<boolean> {
    return changesRow(
      this.#updateClaimed(key, turn).set({
        create_intended_at: sql<Date>`clock_timestamp()`,
        claimed_until: fromNow(leaseMs),
      }),
    );
  }

  /** Gives the claim back. Unless `wasNotCreated`, there may be a project that nobody can find. */
  async release(key: ProjectKey, turn: string, wasNotCreated: boolean): Promise<void> {
    await this.#updateClaimed(key, turn)
      .set({ claimed_by: null, claimed_until: null, ...(wasNotCreated && { create_intended_at: null }) })
      .execute();
  }

  /** Records the channel's project; false if the claim was lost: another project may be in use. */
  async bind(key: ProjectKey, turn: string, projectId: string): Promise<boolean> {
    const bound = this.#updateClaimed(key, turn)
      .set({ project_id: projectId, create_intended_at: null, claimed_until: null })
      .returning(['workspace', 'channel', 'project_id']);
    return this.#recordUse(bound);
  }

  /** Removes a channel's project if we created it; false for one that people chose, which stays. */
  async detach(key: ProjectKey, projectId: string): Promise<boolean> {
    await this.#update(key)
      .set({ project_id: null, claimed_by: null, name_sync_due_at: null, name_sync_claimed_until: null })
      .where('project_id', '=', projectId)
      .where('claimed_by', 'is not', null)
      .execute();
    return (await this.projectIdOf(key)) !== projectId;
  }

  /** The channel's project, if it has one. */
  async projectIdOf(key: ProjectKey): Promise<string | undefined> {
    const row = await this.db
      .selectFrom('projects')
      .select('project_id')
      .where(ofProject(key))
      .executeTakeFirst();
    return row?.project_id ?? undefined;
  }

  /** Sets the channel's project from its next thread on; a turn that is creating one loses its claim. */
  async assign(key: ProjectKey, projectId: string): Promise<void> {
    const set = { project_id: projectId, create_intended_at: null, claimed_by: null, claimed_until: null };
    const assigned = this.db
      .insertInto('projects')
      .values({ ...key, ...set })
      .onConflict((conflict) => conflict.columns(['workspace', 'channel', 'account_id']).doUpdateSet(set))
      .returning(['workspace', 'channel', 'project_id']);
    await this.#recordUse(assigned);
  }

  /** The channels, in all workspaces and accounts, that have or had this project, even if their tasks are deleted. */
  async channelsUsing(projectId: string): Promise<{ workspace: string; channel: string }[]> {
    return this.db
      .selectFrom('project_channels')
      .select(['workspace', 'channel'])
      .where('project_id', '=', projectId)
      .execute();
  }

  /** Gives a channel its project, and records for good that it had it; false if the change found no row. */
  async #recordUse(change: OperationNodeSource): Promise<boolean> {
    const { rows } = await sql<{ changed: boolean }>`
      with changed as (${change}), used as (
        insert into project_channels (workspace, channel, project_id)
        select workspace, channel, project_id from changed on conflict do nothing)
      select true as changed from changed`.execute(this.db);
    return rows.length > 0;
  }

  #updateClaimed(key: ProjectKey, turn: string) {
    return this.#update(key).where('project_id', 'is', null).where('claimed_by', '=', turn);
  }

  #update(key: ProjectKey) {
    return this.db.updateTable('projects').where(ofProject(key));
  }
}
