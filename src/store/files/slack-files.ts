import { sql } from 'kysely';
import { ofTurn } from '../filters.ts';
import { Queries } from '../queries.ts';
import type { SlackFileRow, SlackFileState, TurnId } from '../schema.ts';

/** Files that we put into Slack: the id is recorded first, then each state. */
export class SlackFiles extends Queries {
  /** All files of a turn, by part. */
  async ofTurn(turn: TurnId): Promise<Map<string, SlackFileRow>> {
    const rows = await this.db.selectFrom('slack_files').selectAll().where(ofTurn(turn)).execute();
    return new Map(rows.map((row) => [row.part, row]));
  }

  /** Slack has assigned an id to a part; nobody can see the file yet. */
  async begin(turn: TurnId, part: string, slackFile: string): Promise<void> {
    await this.changes(sql`
      insert into slack_files (workspace, turn_id, part, slack_file_id, state)
      values (${turn.workspace}, ${turn.id}, ${part}, ${slackFile}, 'begun')
      on conflict (workspace, turn_id, part) do update
        set slack_file_id = excluded.slack_file_id, state = excluded.state, intended_at = clock_timestamp()`);
  }

  /** Records the state of parts. */
  async setState(turn: TurnId, parts: readonly string[], state: SlackFileState): Promise<void> {
    if (parts.length === 0) return;
    await this.changes(sql`
      update slack_files set state = ${state}, intended_at = clock_timestamp()
      where ${ofTurn(turn)} and part = any(${[...parts]}::text[])`);
  }

  /** The parts start over. */
  async delete(turn: TurnId, parts: readonly string[]): Promise<void> {
    if (parts.length === 0) return;
    await this.changes(
      sql`delete from slack_files where ${ofTurn(turn)} and part = any(${[...parts]}::text[])`,
    );
  }
}
