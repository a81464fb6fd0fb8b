import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exitIfHelpIsAsked } from '../../src/operate/command-runner.ts';
import { flattenSuppressedErrors } from '../../src/operate/error-messages.ts';
import { CHAOS_USAGE, ChaosOptionsError, parseChaosOptions } from './chaos-options.ts';
import { hasPassed, reportLine } from './chaos-report.ts';
import { runChaos } from './chaos-run.ts';
import { DAMAGE_KINDS } from './damage.ts';

exitIfHelpIsAsked(
  `${CHAOS_USAGE}\n\nKills the bot at random, then compares what was said with what arrived.`,
);
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseChaosOptions(args);
    const logs = options.logs ?? (await mkdtemp(join(tmpdir(), 'taskthread-chaos-logs-')));
    const { findings, turns, damage, stats } = await runChaos({ ...options, logs }, (line) =>
      console.error(`chaos: ${line}`),
    );
    const passed = hasPassed(damage, stats);
    for (const kind of DAMAGE_KINDS)
      for (const sentence of damage[kind]) console.error(`${kind}: ${sentence}`);
    if (!passed) {
      await writeFile(
        join(logs, 'findings.json'),
        JSON.stringify({ ...findings, sent: [...findings.sent], turns }, undefined, 1),
      );
      console.error(`The bot's logs and the findings are in ${logs}`);
    }
    if (passed && options.logs === undefined) await rm(logs, { recursive: true, force: true });
    console.log(reportLine(damage, stats));
    return passed ? 0 : 1;
  } catch (error) {
    const isUsageError = error instanceof ChaosOptionsError;
    console.error(...(isUsageError ? [error.message] : flattenSuppressedErrors(error)));
    return isUsageError ? 2 : 1;
  }
}
