import type { Logger } from 'pino';
import type { OnStep } from '../store/threads/turn-steps.ts';

/** Logs a line for each step of a turn, with its ids in Slack, at the service and in the database. */
export function createTurnStepLogger(log: Logger): OnStep {
  return (turn, step, task) => {
    const { id, workspace, channel, thread_ts, message_ts } = turn;
    const ids = { turn: id, workspace, channel, thread_ts, ts: message_ts, task };
    const {
      user_message_id: sent,
      assistant_message_id: reply,
      outcome,
      edit_count,
      uploaded_bytes: bytes,
    } = turn;
    const details = {
      sent,
      reply,
      outcome,
      files: turn.attached_file_ids?.length ?? null,
      edits: edit_count,
      bytes,
    };
    log.info({ ...ids, step, ms: Date.now() - turn.started_at.getTime(), ...details }, `turn ${step}`);
  };
}
