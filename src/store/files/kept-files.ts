import { sql } from 'kysely';
import { inThread, Queries, toPostgresJson } from '../queries.ts';
import type { FileNote, Message, ThreadKey, Turn } from '../schema.ts';
import { hasSent, isOpenTurn } from '../threads/turn-phase.ts';

/** What the note on a file becomes when the thread leaves the project that the file is in. */
const LEFT_BEHIND = { reason: 'left_behind' } satisfies Partial<FileNote>;

/** Files that were shared without text: they go with a later message of the thread. */
export class KeptFiles extends Queries {
  /** Claims the files of messages without text before a turn's, unless those were deleted: they are sent with it alone. */
  async take(turn: Turn): Promise<Pick<Turn, 'asked_by' | 'attached_file_ids' | 'file_notes'>[]> {
    if (turn.message_ts === turn.thread_ts) return [];
    const { rows } = await sql<Pick<Turn, 'asked_by' | 'attached_file_ids' | 'file_notes' | 'message_ts'>>`
      update turns as kept set files_sent_with_turn_id = ${turn.id}
      where ${inThread(turn)} and outcome = 'kept' and message_ts < ${turn.message_ts}
        and (files_sent_with_turn_id is null or files_sent_with_turn_id = ${turn.id} or not exists (
          select from turns as taker where taker.workspace = kept.workspace and taker.id = kept.files_sent_with_turn_id
            and (${isOpenTurn} or ${hasSent})))
        and (select bool_and(state = 'withdrawn') from messages where workspace = kept.workspace
          and channel = kept.channel and kept.message_ts in (ts, sent_with_ts)) is not true
      returning asked_by, attached_file_ids, file_notes, message_ts`.execute(this.db);
    return rows.toSorted((one, other) => Number(one.message_ts) - Number(other.message_ts));
  }

  /** The thread leaves its project: files in that project are no longer sent, and their notes say so. */
  async leaveBehind(thread: ThreadKey): Promise<void> {
    await sql`
      update turns set attached_file_ids = '[]', file_notes = (
        select jsonb_agg(case when note ->> 'reason' is null then note || ${toPostgresJson(LEFT_BEHIND)}::jsonb else note end order by at)
        from jsonb_array_elements(file_notes) with ordinality as notes (note, at))
      where ${inThread(thread)} and attached_file_ids <> '[]'`.execute(this.db);
  }

  /** The names of the files and tables that the thread has kept for a message, whose own get others. */
  async names(message: Pick<Message, 'workspace' | 'channel' | 'thread_ts' | 'ts'>): Promise<string[]> {
    const kept = await this.rows(sql<{ name: string | null }>`
      select note ->> 'name' as name from turns as kept, jsonb_array_elements(kept.file_notes) as notes (note)
      where ${inThread(message)} and outcome = 'kept' and message_ts < ${message.ts} and note ->> 'reason' is null
        and (files_sent_with_turn_id is null or exists (
          select from turns as taker where taker.workspace = kept.workspace
            and taker.id = kept.files_sent_with_turn_id and taker.message_ts = ${message.ts}))`);
    return kept.flatMap(({ name }) => name ?? []);
  }
}
