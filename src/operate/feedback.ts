import type { AuditRange } from '../store/audit/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { runRangeCommand } from './time-range.ts';

/** Prints the feedback as lines of JSON, one for each person and answer, oldest first. */
export async function printFeedback(
  store: Pick<Store, 'feedback'>,
  range: AuditRange,
  print: (line: string) => void,
): Promise<void> {
  for (const { given_at, is_positive, ...row } of await store.feedback.inRange(range))
    print(JSON.stringify({ at: given_at.toISOString(), thumb: is_positive ? 'good' : 'bad', ...row }));
}

if (import.meta.main) await runRangeCommand('feedback', 'the thumbs and comments on answers', printFeedback);
