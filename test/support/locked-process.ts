import { openDatabase } from '../../src/store/database.ts';
import { ProcessLock } from '../../src/store/processes/process-lock.ts';
import { ProcessRegistry } from '../../src/store/processes/process-registry.ts';
import { silentLog } from './silent-log.ts';

// A process that holds its lock and does nothing, for a test that freezes or kills it. Prints its id.
const { createClient, leaseKysely } = await openDatabase({ url: process.argv[2] ?? '', log: silentLog });
const registry = new ProcessRegistry(leaseKysely);
const lock = new ProcessLock({ registry, createClient, log: silentLog });
await registry.enter(lock.id);
lock.start();
process.stdout.write(lock.id);
