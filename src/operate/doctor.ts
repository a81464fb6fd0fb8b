import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { type Config, ConfigError, readConfig, secretValues } from '../config.ts';
import { checkAgentService } from './checks/agent-service-check.ts';
import { type Check, type CheckResult, type CheckTools, errorMessage } from './checks/check-result.ts';
import { checkClock, checkDisk } from './checks/clock-and-disk-checks.ts';
import { checkDatabase } from './checks/database-check.ts';
import { checkEventAddress, checkInstallPage, checkResultLinks } from './checks/public-url-checks.ts';
import { checkOAuth, checkSocketMode, checkToken } from './checks/slack-checks.ts';
import { Redactor } from './redaction.ts';

const CHECKS: readonly (readonly [string, Check])[] = [
  ['disk', checkDisk],
  ['database', checkDatabase],
  ['Slack OAuth', checkOAuth],
  ['install address', checkInstallPage],
  ['Slack token', checkToken],
  ['Slack connection', checkSocketMode],
  ['public address', checkEventAddress],
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
  let redaction = new Redactor();
  let allPassed = true;
  const report = ({ what, ok, message }: CheckResult) => {
    allPassed &&= ok;
    print(redaction.redact(`${ok ? 'OK   ' : 'FAIL '} ${what.padEnd(17)} ${message}`));
  };
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report({ what: 'settings', ok: false, message: error.message });
    return false;
  }
  redaction = new Redactor(secretValues(config));
  report({ what: 'settings', ok: true, message: 'complete' });
  const defaultTools = { log: pino({ level: 'silent' }), now: () => Date.now(), freeBytes };
  for (const [what, check] of CHECKS) {
    try {
      for await (const found of check(config, { ...defaultTools, ...tools }))
        report(typeof found === 'string' ? { what, ok: true, message: found } : found);
    } catch (error) {
      report({ what, ok: false, message: errorMessage(error) });
    }
  }
  return allPassed;
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
