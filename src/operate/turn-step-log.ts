import type { Logger } from 'pino';
import type { OnStep } from '../store/threads/turn-steps.ts';

/** Logs a line for each step of a turn, with its ids in Slack, at the service and in the database. */
export function createTurnStepLogger(log: Logger): OnStep {
  return (turn, step, task) => {
    const { id, workspace, channel, root, message_ts: ts } = turn;
    const ids = { turn: id, workspace, channel, root, ts, task };
    const { user_message_id: sent, assistant_message_id: reply, outcome, edits, bytes_up: bytes } = turn;
    const details = { sent, reply, outcome, files: turn.attached?.length ?? null, edits, bytes };
    log.info({ ...ids, step, ms: Date.now() - turn.started_at.getTime(), ...details }, `turn ${step}`);
  };
}
