import { type RangeCommand, runRangeCommand } from './command-runner.ts';

/** `npm run audit`. */
export const auditCommand: RangeCommand = {
  name: 'audit',
  what: 'the audit trail',
  readRows: (store, range) => store.audit.read(range),
  summary: {
    what: 'the usage of each month, channel and model; without --since, of twelve months',
    readRows: (store, range) => store.usage.read(range),
  },
};

if (import.meta.main) await runRangeCommand(auditCommand);
