import { JobRunner } from '../../src/relay/runtime/job-runner.ts';
import { turnJobs } from '../../src/relay/turns/turn-runner.ts';
import { openDatabase } from '../../src/store/database.ts';
import { Store } from '../../src/store/store.ts';
import { silentLog } from './silent-log.ts';

// A process that takes the job of every thread and never ends one, for a test that kills it. Prints the root of each thread.
const database = await openDatabase({ url: process.argv[2] ?? '', log: silentLog });
const store = new Store(database.kysely);
const runner = new JobRunner({ store, leaseStore: store, log: silentLog, onRun: () => undefined });
const run = ({ thread_ts }: { thread_ts: string }) => {
  process.stdout.write(`${thread_ts}\n`);
  return new Promise<never>(() => undefined);
};
runner.add(turnJobs({ run }, 1_000));
runner.start();
runner.runDue();
