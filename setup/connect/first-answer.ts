import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { readLogLine, type Sign } from './log-line.ts';
import { appPage, type Session } from './session.ts';

const MAIN_PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
/** After this long without a message, the person is told where to look (ms). */
const SILENCE_MS = 45_000;

/** Tells what happens between the start of the bot and its first answer. */
export class FirstAnswer {
  readonly #say: (line: string) => void;
  readonly #advice: readonly string[];
  readonly #silenceMs: number;
  #timer: NodeJS.Timeout | undefined;
  isRunning = false;
  isAnswered = false;
  #heard = false;

  constructor(options: { say: (line: string) => void; advice: readonly string[]; silenceMs?: number }) {
    this.#say = options.say;
    this.#advice = options.advice;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
  }

  /** Takes in one sign of the bot's log. */
  take(sign: Sign): void {
    if (sign.kind === 'problem') {
      if (!this.isAnswered) this.#say(`  ${sign.message}`);
    } else if (sign.kind === 'running' && !this.isRunning) {
      this.isRunning = true;
      this.#say(
        '\nThe bot is running. In Slack, mention me in a channel that I am in: @Taskthread what can you do?',
      );
      this.#say('To add me to a channel, type /invite @Taskthread there. A direct message works too.');
      this.#wait();
    } else if (sign.kind === 'heard' && !this.#heard) {
      this.#heard = true;
      this.#say('Your message has arrived; the agent is working.');
      this.stop();
    } else if (sign.kind === 'answered' && !this.isAnswered) {
      this.isAnswered = true;
      this.#say('It is answered: everything works.');
      this.#say('The bot runs until you press Ctrl+C. From now on, start it with npm start.');
    } else if (sign.kind === 'unanswered' && !this.isAnswered) {
      this.#heard = false;
      this.#say(
        `That message was not answered (${sign.outcome}). The thread says why; mend it and mention me again.`,
      );
    }
  }

  /** Gives no more advice. */
  stop(): void {
    clearTimeout(this.#timer);
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#say('\nNothing has arrived yet. Please check:');
      for (const line of this.#advice) this.#say(`  - ${line}`);
    }, this.#silenceMs);
  }
}

/** Where to look if no message arrives. */
export function adviceForSilence(appId: string | undefined, isHttp: boolean): string[] {
  return [
    'The channel has the bot among its members: /invite @Taskthread.',
    'The message names the bot, and Slack shows the name as a link.',
    `"Event Subscriptions" is on, with app_mention (${appPage(appId, 'event-subscriptions')}).`,
    isHttp
      ? 'Slack shows the Request URL there as verified. If not, choose "Retry".'
      : `Socket Mode is on (${appPage(appId, 'socket-mode')}), and no other process runs with the same tokens.`,
    'You are a full member of the workspace; ALLOWED_USERS lets in guests.',
    'npm run doctor, in another terminal, tries everything again.',
  ];
}

/** Starts the bot and stays with it until it ends; resolves to the exit code. `onRunning` is called once. */
export async function runUntilStopped(session: Session, onRunning: () => void): Promise<number> {
  const { settings, say } = session;
  const isHttp = settings.get('SLACK_APP_TOKEN') === undefined;
  const advice = adviceForSilence(settings.get('SLACK_APP_ID'), isHttp);
  const first = new FirstAnswer({ say, advice });
  const logFile = path.join(path.dirname(settings.path), 'connect.log');
  const log = createWriteStream(logFile, { mode: 0o600 });
  say(`Starting the bot; its log goes to ${logFile}`);
  const child = spawn(process.execPath, [MAIN_PROGRAM], {
    env: { ...settings.environment(), LOG_LEVEL: 'info' },
    cwd: path.dirname(settings.path),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines = [child.stdout, child.stderr].map(async (stream) => {
    for await (const line of createInterface({ input: stream })) {
      log.write(`${line}\n`);
      const wasRunning = first.isRunning;
      const sign = readLogLine(line);
      if (sign !== undefined) first.take(sign);
      if (first.isRunning && !wasRunning) onRunning();
    }
  });
  let isStopped = false;
  const stop = () => {
    isStopped = true;
    child.kill('SIGTERM');
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  await once(child, 'exit');
  await Promise.all(lines);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
  first.stop();
  log.end();
  if (isStopped) {
    say('The bot has stopped. Start it with npm start.');
    return 0;
  }
  say(first.isRunning ? 'The bot has ended by itself; the log says why.' : 'The bot did not start.');
  return 1;
}
