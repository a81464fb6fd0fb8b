import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { useProxy } from '../calls/outbound-proxy.ts';
import { type Config, ConfigError, readConfig, secretValues } from '../config.ts';
import {
  checkAgentService,
  checkEventAddress,
  checkInstallPage,
  checkResultLinks,
} from './checks/address-checks.ts';
import {
  type Check,
  CheckFailed,
  type CheckResult,
  type CheckTools,
  errorMessage,
} from './checks/check-result.ts';
import { checkDatabase, checkDisk } from './checks/database-checks.ts';
import { checkApp, checkClock, checkOAuth, checkSocketMode, checkToken } from './checks/slack-checks.ts';
import { commandLine, parseOptions, runCommand } from './command-runner.ts';
import { Redactor } from './logger.ts';

const CHECKS: readonly (readonly [string, Check])[] = [
  ['disk', checkDisk],
  ['database', checkDatabase],
  ['Slack OAuth', checkOAuth],
  ['install address', checkInstallPage],
  ['Slack token', checkToken],
  ['Slack app', checkApp],
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
  format = (result: CheckResult) => formatResult(result),
): Promise<boolean> {
  let redaction = new Redactor();
  let allPassed = true;
  const report = (result: CheckResult) => {
    allPassed &&= result.ok;
    print(redaction.redact(format(result)));
  };
  let config: Config;
  try {
    config = readConfig(environment);
    useProxy(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report({ what: 'settings', ok: false, message: error.message });
    return false;
  }
  redaction = new Redactor(secretValues(config));
  report({ what: 'settings', ok: true, message: 'complete' });
  const defaultTools = { log: pino({ level: 'silent' }), now: () => Date.now(), freeBytes, mend: false };
  // Several checks may fail for one reason: there is one thing to do.
  const reasons = new Set<unknown>();
  for (const [what, check] of CHECKS) {
    try {
      for await (const found of check(config, { ...defaultTools, ...tools }))
        report(typeof found === 'string' ? { what, ok: true, message: found } : found);
    } catch (error) {
      const message = errorMessage(error);
      const isSlackAway = error instanceof CheckFailed && error.code === 'slack_unreachable';
      const reason = isSlackAway ? error.code : message;
      if (!reasons.has(reason)) report({ what, ok: false, message });
      reasons.add(reason);
    }
  }
  return allPassed;
}

const INDENT = 24;

/** A result for people: its message is wrapped at the terminal's width (columns), if there is one. */
export function formatResult({ what, ok, message }: CheckResult, width = process.stdout.columns): string {
  const room = Math.max(20, (width ?? 10_000) - INDENT);
  // Words that fit, or one that is longer than a line.
  const lines = message.match(new RegExp(`\\S.{0,${room - 1}}(?!\\S)|\\S+`, 'g')) ?? [];
  return `${ok ? 'OK   ' : 'FAIL '} ${what.padEnd(17)} ${lines.join(`\n${' '.repeat(INDENT)}`)}`;
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

const USAGE = commandLine('doctor', '[--mend] [--json]');
const HELP = `Usage: ${USAGE}

Checks everything that a start needs.

  --mend   updates the app at Slack to this release's manifest (needs SLACK_CONFIG_TOKEN)
  --json   prints one line of JSON for each check: {"what", "ok", "message"}`;

async function run(args: readonly string[]): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { json, mend } = parseOptions(USAGE, args, { json: flag, mend: flag });
  const format = (result: CheckResult) => (json ? JSON.stringify(result) : formatResult(result));
  return (await runChecks(process.env, (line) => console.log(line), { mend }, format)) ? 0 : 1;
}

if (import.meta.main) await runCommand(HELP, () => run(process.argv.slice(2)));
