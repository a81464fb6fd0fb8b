import { sql } from 'kysely';
import { Queries } from '../queries.ts';

/** The most turns of a person and of a workspace, per hour and at once; 0: no limit. */
export interface TurnLimits {
  hourPerson: number;
  hourWorkspace: number;
  atOncePerson: number;
  atOnceWorkspace: number;
}

/** The limit that another turn would exceed, and in how many ms it no longer would; null: when a turn ends. */
export interface QuotaExceeded {
  limit: keyof TurnLimits;
  most: number;
  waitMs: number | null;
}

/** Turns per person and workspace, compared with the limits. */
export class TurnUsage extends Queries {
  /** Locks the start of turns in the workspace until the transaction ends. */
  async lockWorkspace(workspace: string): Promise<void> {
    await sql`select pg_advisory_xact_lock(hashtextextended(${`turn-quota/${workspace}`}, 0))`.execute(
      this.db,
    );
  }

  /** The skills that the service took in the workspace's newest 1,000 turns, the newest first. */
  async recentSkills(workspace: string, most: number): Promise<string[]> {
    const { rows } = await sql<{ skill: string }>`
      select skill from (
        select skill, started_at, user_message_id from turns where workspace = ${workspace} order by started_at desc limit 1000) as newest
      where skill is not null and user_message_id is not null group by skill order by max(started_at) desc limit ${most}`.execute(
      this.db,
    );
    return rows.map(({ skill }) => skill);
  }

  /** The first limit that another turn of a person would exceed. */
  async exceeded(workspace: string, person: string, limits: TurnLimits): Promise<QuotaExceeded | undefined> {
    const of = { workspace, person };
    const { hourPerson, hourWorkspace, atOncePerson, atOnceWorkspace } = limits;
    return (
      (await this.#check('hourPerson', hourPerson, of)) ??
      (await this.#check('atOncePerson', atOncePerson, of)) ??
      (await this.#check('hourWorkspace', hourWorkspace, { workspace })) ??
      (await this.#check('atOnceWorkspace', atOnceWorkspace, { workspace }))
    );
  }

  /** Compares with one limit. The `most`th newest turn of the hour says how long to wait. */
  async #check(
    limit: keyof TurnLimits,
    most: number,
    { workspace, person }: { workspace: string; person?: string },
  ): Promise<QuotaExceeded | undefined> {
    if (most === 0) return undefined;
    const isHour = limit === 'hourPerson' || limit === 'hourWorkspace';
    const row = await this.db
      .selectFrom('turns')
      .select(untilHourOld)
      .where('workspace', '=', workspace)
      .$if(person !== undefined, (query) => query.where('asked_by', '=', person ?? ''))
      .$if(isHour, (query) => query.where(startedWithinHour).orderBy('started_at', 'desc'))
      .$if(!isHour, (query) => query.where('finished_at', 'is', null))
      .offset(most - 1)
      .limit(1)
      .executeTakeFirst();
    return row && { limit, most, waitMs: isHour ? row.waitMs : null };
  }
}

const startedWithinHour = sql<boolean>`started_at > now() - interval '1 hour'`;
const untilHourOld =
  sql<number>`extract(epoch from started_at + interval '1 hour' - clock_timestamp())::float8 * 1000`.as(
    'waitMs',
  );
