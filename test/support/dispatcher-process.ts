import { Dispatcher } from '../../src/relay/turns/dispatcher.ts';
import { openDatabase } from '../../src/store/database.ts';
import { ThreadQueue } from '../../src/store/queue/thread-queue.ts';
import { silentLog } from './silent-log.ts';

// A process that takes every job and never ends one, for a test that kills it. Prints the root of each thread.
const database = await openDatabase({ url: process.argv[2] ?? '', log: silentLog });
const queue = new ThreadQueue({ database, log: silentLog });
await queue.start();
new Dispatcher({
  queue,
  log: silentLog,
  async run({ thread_ts }) {
    process.stdout.write(`${thread_ts}\n`);
    await new Promise(() => undefined);
  },
}).start();
