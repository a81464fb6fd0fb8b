import { openDatabase } from '../../src/store/database.ts';
import { startEmbedded } from '../../src/store/embedded.ts';
import { silent } from '../silent.ts';

// A process that owns an embedded server, for tests that kill it. Prints `ready`, and `alive` for each SIGINT that
// it outlives, when its server still answers.
const embedded = await startEmbedded({ folder: process.argv[2] ?? '', log: silent, fsync: false });
const database = await openDatabase({ embedded, log: silent });
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
