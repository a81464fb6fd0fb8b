import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Loaded into a process of the bot before its program, which then runs on a machine of its own, as far as it can tell.
const BOOT_ID = '/proc/sys/kernel/random/boot_id';
const own = randomUUID();
const read = fs.readFileSync;
const readFileSync = (...args: Parameters<typeof read>) => (args[0] === BOOT_ID ? own : read(...args));
Object.assign(fs, { readFileSync });
syncBuiltinESMExports();
