import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UsageError } from '../../src/operate/command-runner.ts';
import { givenServerProblem } from '../postgres-server.ts';
import { runCommand } from '../run-command.ts';
import { CHAOS_USAGE, parseChaosOptions } from './chaos-options.ts';
import { hasPassed, reportLine } from './chaos-report.ts';
import { runChaos } from './chaos-run.ts';
import { DAMAGE_KINDS, type Damage, isUndamaged } from './damage.ts';
import { poisonReportLine, runPoison } from './poison-run.ts';

const HELP = `${CHAOS_USAGE}

Kills the bot at random, then compares what was said with what arrived. With --poison, one thing after another stays bad, and nobody else may wait for it.`;

await runCommand(HELP, async (args) => {
  const options = parseChaosOptions(args);
  const breaksDatabase = 'databaseFaultSeconds' in options && options.databaseFaultSeconds !== undefined;
  const problem = breaksDatabase ? givenServerProblem('chaos --database') : undefined;
  if (problem !== undefined) throw new UsageError(CHAOS_USAGE, problem);
  const logs = options.logs ?? (await mkdtemp(join(tmpdir(), 'taskthread-chaos-logs-')));
  const { passed, damage, line } = await run({ ...options, logs });
  for (const kind of DAMAGE_KINDS) for (const sentence of damage[kind]) console.error(`${kind}: ${sentence}`);
  if (!passed) console.error(`The bot's logs and the findings are in ${logs}`);
  if (passed && options.logs === undefined) await rm(logs, { recursive: true, force: true });
  console.log(line);
  return passed;
});

async function run(
  options: ReturnType<typeof parseChaosOptions> & { logs: string },
): Promise<{ passed: boolean; damage: Damage; line: string }> {
  const onProgress = (line: string) => console.error(`chaos: ${line}`);
  if ('poison' in options) {
    const report = await runPoison(options, onProgress);
    const { damage, missed } = report;
    for (const sentence of missed) console.error(`missed: ${sentence}`);
    const passed = missed.length === 0 && isUndamaged(damage);
    return { passed, damage, line: poisonReportLine(report, options.seed) };
  }
  const { findings, turns, damage, stats } = await runChaos(options, onProgress);
  const passed = hasPassed(damage, stats);
  const all = { ...findings, sent: [...findings.sent], turns };
  if (!passed) await writeFile(join(options.logs, 'findings.json'), JSON.stringify(all, undefined, 1));
  return { passed, damage, line: reportLine(damage, stats) };
}
