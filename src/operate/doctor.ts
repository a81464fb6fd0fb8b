import { statfs } from 'node:fs/promises';
import path from 'node:path';
import { pino } from 'pino';
import { type Config, ConfigError, readConfig, secretsOf } from '../config.ts';
import { checkDatabase } from './checks/database-checks.ts';
import { type Check, type Finding, fine, type Instruments, sayingOf, wrong } from './checks/finding.ts';
import { checkLinks } from './checks/links-check.ts';
import { checkClock, checkDisk } from './checks/machine-checks.ts';
import { checkService } from './checks/service-check.ts';
import { checkSlack } from './checks/slack-checks.ts';
import { Redaction } from './redaction.ts';

const checks: readonly (readonly [string, Check])[] = [
  ['disk', checkDisk],
  ['database', checkDatabase],
  ['Slack', checkSlack],
  ['result links', checkLinks],
  ['agent service', checkService],
  ['clock', checkClock],
];

/** Looks at everything that a start needs, in turn. `print` gets a line for each; the answer is whether all are OK. */
export async function examine(
  environment: Readonly<Record<string, string | undefined>>,
  print: (line: string) => void,
  instruments: Partial<Instruments> = {},
): Promise<boolean> {
  let config: Config;
  try {
    config = readConfig(environment);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    print(lineOf(wrong('settings', error.message)));
    return false;
  }
  const redaction = new Redaction(secretsOf(config));
  const tell = (finding: Finding) => print(redaction.clean(lineOf(finding)));
  const usual = { log: pino({ level: 'silent' }), now: () => Date.now(), freeBytes };
  tell(fine('settings', 'complete'));
  let well = true;
  for (const [what, check] of checks) {
    const findings = await check(config, { ...usual, ...instruments }).catch((error: unknown) => [
      wrong(what, sayingOf(error)),
    ]);
    for (const finding of findings) tell(finding);
    well &&= findings.every(({ ok }) => ok);
  }
  return well;
}

function lineOf({ what, ok, says }: Finding): string {
  return `${ok ? 'OK   ' : 'MEND '} ${what.padEnd(17)} ${says}`;
}

/** Of the nearest folder above that is there. */
async function freeBytes(place: string): Promise<number> {
  for (let at = path.resolve(place); ; at = path.dirname(at)) {
    try {
      const { bavail, bsize } = await statfs(at);
      return bavail * bsize;
    } catch (error) {
      if (at === path.dirname(at)) throw error;
    }
  }
}

if (import.meta.main) process.exit((await examine(process.env, (line) => console.log(line))) ? 0 : 1);
