import { useProxy } from '../../src/calls/outbound-proxy.ts';
import { readCommandConfig } from '../../src/config/environment-and-secret-files.ts';
import { parseOptions, UsageError } from '../../src/operate/command-runner.ts';
import { runChecks } from '../../src/operate/doctor.ts';
import { AnswerError, AnswerFile } from './answer-file.ts';
import { connectDatabase } from './database-step.ts';
import { runUntilStopped } from './first-answer.ts';
import { Interruption } from './interruption.ts';
import { connectService } from './service-step.ts';
import { appPage, type Session } from './session.ts';
import { SettingsFile } from './settings-file.ts';
import { connectSlack } from './slack-step.ts';
import { TerminalQuestions } from './terminal-questions.ts';

/** The exit code of a program that Ctrl+C has ended. */
const INTERRUPTED = 130;

const say = (line: string) => console.log(line);

function sayGoodbye(): number {
  say('\nStopped. What was saved stays; run npm run connect again to go on.');
  return INTERRUPTED;
}

/** Asks, tries and saves everything, then starts the bot; resolves to the exit code. */
export async function connect(usage: string, args: string[]): Promise<number> {
  const { from } = parseOptions(usage, args, { from: { type: 'string' } });
  return ask(usage, from).catch(exitCodeFor);
}

async function ask(usage: string, from: string | undefined): Promise<number> {
  if (from === undefined && !(process.stdin.isTTY && process.stdout.isTTY))
    throw new UsageError(usage, 'This asks questions and needs a terminal. Without one, use --from.');
  const settings = new SettingsFile(process.cwd());
  const isProxy = ([name]: [string, string]) => /^(https_proxy|no_proxy)/i.test(name);
  useProxy(readCommandConfig(Object.fromEntries(Object.entries(settings.environment()).filter(isProxy))));
  if (settings.get('SLACK_CLIENT_ID') !== undefined)
    throw new UsageError(
      usage,
      'SLACK_CLIENT_ID is set: workspaces install this app by OAuth (docs/install.md, "Many workspaces"). Remove it to serve one workspace.',
    );
  const questions = from === undefined ? new TerminalQuestions() : new AnswerFile(from, say);
  say(
    'This connects Slack, the agent service and a database. Everything is tried as you enter it.\nCtrl+C stops at any time.\n',
  );
  const secretPlace = await questions.choose({
    key: 'secrets',
    message: 'Where shall tokens and keys go?',
    choices: [
      { value: 'env', name: '.env', description: 'one file, which only you can read' },
      {
        value: 'files',
        name: 'files in secrets/',
        description: 'one file for each, as compose.yaml expects them',
      },
    ],
    default: settings.secretPlace ?? 'env',
  });
  const interruption = new Interruption(() => process.exit(sayGoodbye()));
  interruption.listen();
  const session: Session = { questions, settings, secretPlace, say, interruption };
  for (const step of [connectSlack, connectService, connectDatabase]) {
    await step(session);
    say(`Saved in ${settings.path}`);
  }
  for (const name of settings.conflicts())
    say(
      `${name} is also set in your environment, with another value, which npm start would use. Remove it there.`,
    );
  return start(session);
}

/** The doctor, then the bot; with events by HTTP the bot first, because the doctor calls it from outside. */
async function start(session: Session): Promise<number> {
  const { questions, settings } = session;
  const isHttp = settings.get('SLACK_APP_TOKEN') === undefined;
  if (!isHttp && !(await passDoctor(session))) return 1;
  const message = 'Start the bot now?';
  if (!(await questions.confirm({ key: 'start', message, default: true }))) {
    say('Start it with npm start.');
    return 0;
  }
  session.interruption.ignore();
  return runUntilStopped(session, () => {
    if (isHttp) void checkFromOutside(session);
  });
}

async function passDoctor({ questions, settings }: Session): Promise<boolean> {
  for (;;) {
    say('\nThe doctor checks everything together:');
    if (await runChecks(settings.environment(), say)) return true;
    const next = await questions.choose({
      key: 'doctor',
      message: 'Some checks failed. What now?',
      choices: [
        { value: 'again', name: 'Check again', description: 'after you have mended it' },
        { value: 'go-on', name: 'Go on', description: 'start the bot all the same' },
        { value: 'stop', name: 'Stop', description: 'everything entered so far is saved' },
      ],
      default: 'stop',
    });
    if (next !== 'again') return next === 'go-on';
  }
}

async function checkFromOutside({ settings }: Session): Promise<void> {
  say('The doctor checks everything together, also from outside:');
  if (!(await runChecks(settings.environment(), say)))
    say('Mend this, then run npm run doctor in another terminal.');
  const page = appPage(settings.get('SLACK_APP_ID'), 'event-subscriptions');
  say(`Let Slack verify the address: ${page}, "Request URL", "Retry".`);
}

/** Ctrl+C at a question, or anything that an answer file lacks. */
function exitCodeFor(error: unknown): number {
  if (error instanceof AnswerError) {
    console.error(error.message);
    return 2;
  }
  if (!(error instanceof Error) || error.name !== 'ExitPromptError') throw error;
  return sayGoodbye();
}
