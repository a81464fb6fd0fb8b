import { runCommand } from '../run-command.ts';
import { runDrift } from './drift-run.ts';
import { type DriftOptions, FUZZ_USAGE, parseFuzzOptions } from './fuzz-options.ts';
import { runFuzz } from './fuzz-run.ts';
import { isOfRegistry, runRegistryDrift, runRegistryFuzz } from './registry-run.ts';
import { runServiceFuzz } from './service-fuzz-run.ts';

await runCommand(`${FUZZ_USAGE}\n\nSends random and mutated events to the real bot.`, async (args) => {
  const options = parseFuzzOptions(args);
  const onProgress = (line: string) => console.error(`fuzz: ${line}`);
  const run = () => {
    if ('registries' in options) return runRegistryFuzz(options, onProgress);
    if ('answers' in options) return runServiceFuzz(options, onProgress);
    return 'events' in options ? runFuzz(options, onProgress) : runDrifts(options, onProgress);
  };
  const report = await run();
  for (const sentence of report.harm.slice(0, 20)) console.error(`harm: ${sentence}`);
  console.log(JSON.stringify({ ...report, harm: report.harm.length }));
  return report.harm.length === 0;
});

/** The service differs from its document, and then the registries from what was recorded of them. */
async function runDrifts(options: DriftOptions, onProgress: (line: string) => void) {
  const { only } = options;
  if (only !== undefined && isOfRegistry(only)) return runRegistryDrift(options, onProgress);
  const service = await runDrift(options, onProgress);
  if (only !== undefined) return service;
  const registries = await runRegistryDrift(options, onProgress);
  const harm = [...service.harm, ...registries.harm];
  return { ...service, registryCases: registries.cases, harm };
}
