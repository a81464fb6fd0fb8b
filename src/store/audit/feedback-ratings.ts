import { sql } from 'kysely';
import { Queries } from '../queries.ts';
import type { Tables } from '../schema.ts';
import type { AuditRange } from './audit-trail.ts';

/** Identifies one person's rating of one answer. */
export type FeedbackKey = Pick<Tables['feedback'], 'workspace' | 'turn_id' | 'user_id'>;

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
    return this.db
      .selectFrom('feedback')
      .leftJoin('turns', (join) =>
        join.onRef('turns.workspace', '=', 'feedback.workspace').onRef('turns.id', '=', 'feedback.turn_id'),
      )
      .select(['given_at', 'is_positive', 'comment', 'user_id', 'feedback.workspace', 'feedback.turn_id'])
      .select(['channel', 'thread_ts', 'task_id'])
      .where('given_at', '>=', since)
      .$if(until !== undefined, (query) => query.where('given_at', '<', until ?? since))
      .$if(workspace !== undefined, (query) => query.where('feedback.workspace', '=', workspace ?? ''))
      .orderBy('given_at')
      .execute();
  }

  async get(key: FeedbackKey): Promise<{ is_positive: boolean; comment: string | null } | undefined> {
    return this.first(sql<{ is_positive: boolean; comment: string | null }>`
      select is_positive, comment from feedback where ${isRating(key)}`);
  }
}

function isRating({ workspace, turn_id, user_id }: FeedbackKey) {
  return sql`(workspace, turn_id, user_id) = (${workspace}, ${turn_id}, ${user_id})`;
}
