import { startEmbeddedServer } from '../../src/postgres/embedded-server.ts';
import { openDatabase } from '../../src/store/database.ts';
import { silentLog } from './silent-log.ts';

// A process that owns an embedded server, for tests that kill it. Prints `ready`, and `alive` for each SIGINT that
// it outlives, when its server still answers.
const embedded = await startEmbeddedServer({ folder: process.argv[2] ?? '', log: silentLog, fsync: false });
const database = await openDatabase({ embedded, log: silentLog });
await database.pool.query('create table if not exists kept (word text)');
await database.pool.query("insert into kept values ('kept')");
process.on('SIGINT', () => {
  setTimeout(() => {
    database.pool.query('select').then(
      () => process.stdout.write('alive\n'),
      () => process.stdout.write('lost\n'),
    );
  }, 300);
});
process.stdout.write('ready\n');
