import { sql } from 'kysely';
import type { AuditRange } from './audit-trail.ts';
import { Queries } from './queries.ts';
import type { FeedbackRow } from './schema.ts';

/** Identifies one person's rating of one answer. */
export type FeedbackKey = Pick<FeedbackRow, 'workspace' | 'turn_id' | 'user_id'>;

/** A rating, and where its answer is, if that is still known. */
type Rating = FeedbackRow & Record<'channel' | 'thread_ts' | 'task_id', string | null>;

/** Ratings of answers: one of each person for each answer, which they may change. */
export class FeedbackRatings extends Queries {
  /** Records a person's rating; an existing comment stays. */
  async rate({ workspace, turn_id, user_id }: FeedbackKey, isPositive: boolean): Promise<void> {
    await this.changes(sql`
      insert into feedback (workspace, turn_id, user_id, is_positive)
      values (${workspace}, ${turn_id}, ${user_id}, ${isPositive})
      on conflict (workspace, turn_id, user_id) do update set is_positive = excluded.is_positive, given_at = now()`);
  }

  /** Sets the comment of a rating; false if there is no rating. */
  async addComment(key: FeedbackKey, comment: string): Promise<boolean> {
    return this.changes(
      sql`update feedback set comment = ${comment}, given_at = now() where ${isRating(key)}`,
    );
  }

  /** Ratings and where their answers are, oldest first: from `since` on and before `until`. */
  async inRange({ since, until, workspace }: AuditRange) {
    return this.rows(sql<Rating>`
      select given_at, is_positive, comment, user_id, rating.workspace, turn_id, channel, thread_ts, task_id
      from feedback as rating left join turns on (turns.workspace, turns.id) = (rating.workspace, turn_id)
      where given_at >= ${since} and given_at < coalesce(${until ?? null}, 'infinity'::timestamptz)
        and rating.workspace = coalesce(${workspace ?? null}, rating.workspace)
      order by given_at`);
  }

  async get(key: FeedbackKey): Promise<FeedbackRow | undefined> {
    return this.first(sql<FeedbackRow>`select * from feedback where ${isRating(key)}`);
  }
}

function isRating({ workspace, turn_id, user_id }: FeedbackKey) {
  return sql`(workspace, turn_id, user_id) = (${workspace}, ${turn_id}, ${user_id})`;
}
