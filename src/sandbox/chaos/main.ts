import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failuresOf } from '../../operate/failures.ts';
import { damageKinds } from './comparison.ts';
import { ChaosOptionsError, readOptions } from './options.ts';
import { isWhole, reportLine } from './report.ts';
import { runChaos } from './run.ts';

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = readOptions(args);
    const logs = options.logs ?? (await mkdtemp(join(tmpdir(), 'taskthread-chaos-logs-')));
    const { findings, turns, damage, figures } = await runChaos({ ...options, logs }, (line) =>
      console.error(`chaos: ${line}`),
    );
    const whole = isWhole(damage);
    for (const kind of damageKinds)
      for (const sentence of damage[kind]) console.error(`${kind}: ${sentence}`);
    if (!whole) {
      await writeFile(
        join(logs, 'findings.json'),
        JSON.stringify({ ...findings, sent: [...findings.sent], turns }, undefined, 1),
      );
      console.error(`The bot's log lines and what was found are in ${logs}`);
    }
    if (whole && options.logs === undefined) await rm(logs, { recursive: true, force: true });
    console.log(reportLine(damage, figures));
    return whole ? 0 : 1;
  } catch (error) {
    const wrong = error instanceof ChaosOptionsError;
    console.error(...(wrong ? [error.message] : failuresOf(error)));
    return wrong ? 2 : 1;
  }
}
