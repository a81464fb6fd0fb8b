import { statfs, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline/promises';
import { pino } from 'pino';
import { useProxy } from '../calls/outbound-proxy.ts';
import {
  type Config,
  ConfigError,
  readConfig,
  secretValues,
} from '../config/environment-and-secret-files.ts';
import { errorMessage } from '../postgres/errors.ts';
import {
  checkAgentService,
  checkEventAddress,
  checkInstallPage,
  checkResultLinks,
} from './checks/address-checks.ts';
import type { Check, CheckResult, CheckTools } from './checks/check-result.ts';
import { checkDatabase, checkDisk } from './checks/database-checks.ts';
import { checkApp, checkClock, checkOAuth, checkSocketMode, checkToken } from './checks/slack-checks.ts';
import { commandLine, parseOptions, runCommand, UsageError, withOperatorStore } from './command-runner.ts';
import { Redactor } from './logger.ts';
import { readPromptsFile } from './prompts-file.ts';
import { hasPassed, rehearse } from './rehearsal/rehearsal.ts';
import { rehearsalPage, stepLine } from './rehearsal/report.ts';

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
    readPromptsFile(config.PROMPTS_FILE);
    useProxy(config);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report({ what: 'settings', ok: false, message: error.message });
    return false;
  }
  redaction = new Redactor(secretValues(config));
  report({ what: 'settings', ok: true, message: 'complete' });
  const defaultTools = { log: pino({ level: 'silent' }), now: () => Date.now(), freeBytes, mend: false };
  // Several checks may fail for one reason, beside what stands in brackets: there is one thing to do.
  const reasons = new Set<unknown>();
  for (const [what, check] of CHECKS) {
    try {
      for await (const found of check(config, { ...defaultTools, ...tools }))
        report(typeof found === 'string' ? { what, ok: true, message: found } : found);
    } catch (error) {
      const message = errorMessage(error);
      const reason = message.replaceAll(/\(.*?\)/g, '');
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

const USAGE = commandLine('doctor', '[--mend] [--json] [--rehearse <channel> [--person <id>] [--yes]]');
const HELP = `Usage: ${USAGE}

Checks everything that a start needs.

  --mend   updates the app at Slack to this release's manifest (needs SLACK_CONFIG_TOKEN)
  --json   prints one line of JSON for each check: {"what", "ok", "message"}
  --rehearse C0123   plays in that channel what the bot does, with the real Slack and agent service, deletes it again,
                     and writes rehearsal.json and rehearsal.md; --person U0123 also gets a direct message; --yes asks nothing`;

async function run(args: readonly string[]): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const id = { type: 'string' } as const;
  const options = { json: flag, mend: flag, rehearse: id, person: id, yes: flag };
  const { json, mend, rehearse: channel, person, yes } = parseOptions(USAGE, args, options);
  if (channel !== undefined) return playRehearsal(channel, person, yes);
  const format = (result: CheckResult) => (json ? JSON.stringify(result) : formatResult(result));
  return (await runChecks(process.env, (line) => console.log(line), { mend }, format)) ? 0 : 1;
}

const QUESTION =
  'This posts about ten messages and two files in the channel, runs a small task at the agent service, and deletes them. Go on? [y/N] ';

/** Plays a rehearsal once the operator agrees, and writes its report; 0 if it passed. */
async function playRehearsal(
  channel: string,
  person: string | undefined,
  isAgreed: boolean,
): Promise<number> {
  if (!/^[CG][A-Z0-9]+$/.test(channel))
    throw new UsageError(USAGE, '--rehearse needs the id of a channel (C…).');
  if (person !== undefined && !/^[UW][A-Z0-9]+$/.test(person))
    throw new UsageError(USAGE, '--person needs the id of a person (U…).');
  const config = readConfig(process.env);
  if (config.SLACK_BOT_TOKEN === undefined)
    throw new UsageError(USAGE, 'A rehearsal needs SLACK_BOT_TOKEN: that of one workspace.');
  useProxy(config);
  if (!isAgreed) {
    if (!process.stdin.isTTY) throw new UsageError(USAGE, 'Without a terminal, a rehearsal needs --yes.');
    const terminal = createInterface(process.stdin, process.stdout);
    const answer = await terminal.question(QUESTION);
    terminal.close();
    if (!/^y(es)?$/i.test(answer.trim())) return 1;
  }
  const canWrite = await writesReport('', '', 'a');
  const redaction = new Redactor(secretValues(config));
  const interrupted = new AbortController();
  interrupted.signal.addEventListener('abort', () =>
    console.log('Interrupted: what the rehearsal left is being deleted. Please wait.'),
  );
  // Until the process ends: a second Ctrl-C must not end the deletion.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => interrupted.abort());
  const played = await withOperatorStore(config, (store) =>
    rehearse({ config, store, channel, person }, interrupted.signal, (step, words) =>
      console.log(redaction.redact(stepLine(step, words))),
    ),
  );
  const page = redaction.redact(`${rehearsalPage(played)}\n`);
  const data = redaction.redact(`${JSON.stringify(played, undefined, 2)}\n`);
  if (canWrite && (await writesReport(data, page))) {
    console.log('rehearsal.json and rehearsal.md say how it went, without tokens, names and texts.');
  } else console.log(`\n${page}`);
  return hasPassed(played) ? 0 : 1;
}

/** Whether the report could be written; says why not. */
async function writesReport(data: string, page: string, flag = 'w'): Promise<boolean> {
  try {
    await writeFile('rehearsal.json', data, { flag });
    await writeFile('rehearsal.md', page, { flag });
    return true;
  } catch (error) {
    console.log(
      `The report can't be written here, so its page is printed in the end (${errorMessage(error)}).`,
    );
    return false;
  }
}

if (import.meta.main) await runCommand(HELP, () => run(process.argv.slice(2)));
