import { runRangeCommand } from './time-range.ts';

if (import.meta.main) {
  const options = process.argv.slice(2);
  const args = options.filter((option) => option !== '--summary');
  const isSummary = args.length < options.length;
  const what = 'the audit trail, or with --summary the usage of each month, channel and model,';
  const read = isSummary ? 'usage' : 'audit';
  await runRangeCommand('audit', what, (store, range) => store[read].read(range), args);
}
