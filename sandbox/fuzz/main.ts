import { runCommand } from '../run-command.ts';
import { runDrift } from './drift-run.ts';
import { FUZZ_USAGE, parseFuzzOptions } from './fuzz-options.ts';
import { runFuzz } from './fuzz-run.ts';
import { runServiceFuzz } from './service-fuzz-run.ts';

await runCommand(`${FUZZ_USAGE}\n\nSends random and mutated events to the real bot.`, async (args) => {
  const options = parseFuzzOptions(args);
  const onProgress = (line: string) => console.error(`fuzz: ${line}`);
  const run = () => {
    if ('answers' in options) return runServiceFuzz(options, onProgress);
    return 'events' in options ? runFuzz(options, onProgress) : runDrift(options, onProgress);
  };
  const report = await run();
  for (const sentence of report.harm.slice(0, 20)) console.error(`harm: ${sentence}`);
  console.log(JSON.stringify({ ...report, harm: report.harm.length }));
  return report.harm.length === 0;
});
