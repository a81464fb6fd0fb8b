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
    const begun = { slack_file_id: slackFile, state: 'begun' } as const;
    await this.db
      .insertInto('slack_files')
      .values({ workspace: turn.workspace, turn_id: turn.id, part, ...begun })
      .onConflict((conflict) =>
        conflict
          .columns(['workspace', 'turn_id', 'part'])
          .doUpdateSet({ ...begun, intended_at: sql<Date>`clock_timestamp()` }),
      )
      .execute();
  }

  /** Records the state of parts. */
  async setState(turn: TurnId, parts: readonly string[], state: SlackFileState): Promise<void> {
    if (parts.length === 0) return;
    await this.db
      .updateTable('slack_files')
      .set({ state, intended_at: sql<Date>`clock_timestamp()` })
      .where(ofTurn(turn))
      .where('part', 'in', parts)
      .execute();
  }

  /** The parts start over. */
  async delete(turn: TurnId, parts: readonly string[]): Promise<void> {
    if (parts.length === 0) return;
    await this.db.deleteFrom('slack_files').where(ofTurn(turn)).where('part', 'in', parts).execute();
  }
}
