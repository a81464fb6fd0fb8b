import type { AuditRange } from '../store/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { type RangeCommand, runRangeCommand } from './command-runner.ts';

/** The feedback as it is printed, one row for each person and answer, oldest first. */
export async function* feedbackRows({ feedback }: Pick<Store, 'feedback'>, range: AuditRange) {
  for (const { given_at: at, is_positive, ...row } of await feedback.inRange(range))
    yield { at, thumb: is_positive ? 'good' : 'bad', ...row };
}

/** `npm run feedback`. */
export const feedbackCommand: RangeCommand = {
  name: 'feedback',
  what: 'the thumbs and comments on answers',
  readRows: feedbackRows,
};

if (import.meta.main) await runRangeCommand(feedbackCommand);
