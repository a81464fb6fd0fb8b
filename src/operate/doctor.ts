import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { type Config, ConfigError, readConfig, secretValues } from '../config.ts';
import { checkAgentService } from './checks/agent-service-check.ts';
import {
  type Check,
  type CheckResult,
  type CheckTools,
  errorMessage,
  failed,
  passed,
} from './checks/check-result.ts';
import { checkClock, checkDisk } from './checks/clock-and-disk-checks.ts';
import { checkDatabase } from './checks/database-check.ts';
import { checkResultLinks } from './checks/result-links-check.ts';
import { checkSlack } from './checks/slack-check.ts';
import { Redactor } from './redaction.ts';

const CHECKS: readonly (readonly [string, Check])[] = [
  ['disk', checkDisk],
  ['database', checkDatabase],
  ['Slack', checkSlack],
  ['result links', checkResultLinks],
  ['agent service', checkAgentService],
  ['clock', checkClock],
];

/** Checks everything that a start needs. Prints a line for each result; returns whether all passed. */
export async function runChecks(
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
  tools: Partial<CheckTools> = {},
): Promise<boolean> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print(formatResult(failed('settings', error.message)));
    return false;
  }
  const redaction = new Redactor(secretValues(config));
  const printResult = (result: CheckResult) => print(redaction.redact(formatResult(result)));
  const defaultTools = { log: pino({ level: 'silent' }), now: () => Date.now(), freeBytes };
  printResult(passed('settings', 'complete'));
  let allPassed = true;
  for (const [what, check] of CHECKS) {
    const results = await check(config, { ...defaultTools, ...tools }).catch((error: unknown) => [
      failed(what, errorMessage(error)),
    ]);
    for (const result of results) printResult(result);
    allPassed &&= results.every(({ ok }) => ok);
  }
  return allPassed;
}

function formatResult({ what, ok, message }: CheckResult): string {
  return `${ok ? 'OK   ' : 'FAIL '} ${what.padEnd(17)} ${message}`;
}

/** Free space of the nearest parent folder that exists. */
async function freeBytes(folder: string): Promise<number> {
  for (let at = path.resolve(folder); ; at = path.dirname(at)) {
    try {
      const { bavail, bsize } = await statfs(at);
      return bavail * bsize;
    } catch (error) {
      if (at === path.dirname(at)) throw error;
    }
  }
}

if (import.meta.main) process.exit((await runChecks(process.env, (line) => console.log(line))) ? 0 : 1);
