import { readCommandConfig } from '../config.ts';
import type { AuditRange } from '../store/audit/audit-trail.ts';
import type { Store } from '../store/store.ts';
import { runCommand } from './command-runner.ts';
import { withOperatorStore } from './operator-store.ts';
import { parseTimeRange, rangeUsage } from './time-range.ts';

const HELP = `Prints the thumbs and comments on answers as lines of JSON, oldest first.\n\nUsage: ${rangeUsage('feedback')}`;

/** Prints the feedback as lines of JSON, one for each person and answer, oldest first. */
export async function printFeedback(
  store: Pick<Store, 'feedback'>,
  range: AuditRange,
  print: (line: string) => void,
): Promise<void> {
  for (const { given_at, is_positive, ...row } of await store.feedback.inRange(range))
    print(JSON.stringify({ at: given_at.toISOString(), thumb: is_positive ? 'good' : 'bad', ...row }));
}

if (import.meta.main) {
  await runCommand(HELP, async () => {
    const range = parseTimeRange('feedback', process.argv.slice(2));
    await withOperatorStore(readCommandConfig(process.env), (store) =>
      printFeedback(store, range, (line) => process.stdout.write(`${line}\n`)),
    );
    return 0;
  });
}
