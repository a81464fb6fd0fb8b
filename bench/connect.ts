import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { givenDatabaseUrl } from '../sandbox/postgres-server.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import { round } from './statistics.ts';

const CONNECT = fileURLToPath(new URL('../setup/connect.ts', import.meta.url));
/** What a person does at Slack in between: installs the app, copies its token, makes an app-level token. */
const STEPS_AT_SLACK = 3;

/** From a clean folder to the first answer, with answers from a file; the person at Slack takes no time. */
export async function run(): Promise<void> {
  await using undo = new AsyncDisposableStack();
  const agentScript = { script: async (turn: { write(text: string): void }) => turn.write('Hello.') };
  const { slack, agent, folder } = await startSandboxServices(
    { slack: { appExists: false }, agent: agentScript },
    undo,
  );
  const cwd = join(folder, 'clean');
  await mkdir(cwd);
  await chmod(cwd, 0o711);
  const databaseUrl = await givenDatabaseUrl(undo);
  const answers = {
    way: 'configuration-token',
    events: 'socket',
    configuration_token: slack.app.configuration.token,
    agent_base_url: agent.url,
    agent_api_key: agent.apiKey,
    allow_private_host: true,
    ...(databaseUrl === undefined
      ? { database: 'embedded' }
      : { database: 'own', database_url: databaseUrl }),
    start: true,
  };
  const start = async (answersNow: Record<string, unknown>): Promise<ChildProcess> => {
    await writeFile(join(cwd, 'answers.yaml'), stringify(answersNow));
    const { PATH, HOME, TMPDIR } = process.env;
    const env = { PATH, HOME, TMPDIR, SLACK_API_URL: slack.apiUrl, PORT: '0', HOST: '127.0.0.1' };
    const args = [CONNECT, '--from', 'answers.yaml'];
    return spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  };

  const began = performance.now();
  // The first run makes the app and ends where it needs the token of an installed one.
  const first = await start(answers);
  first.stdout?.resume();
  await once(first, 'exit');
  const tokens = { bot_token: slack.installApp(), app_token: slack.appToken };
  const second = await start({ ...answers, ...tokens });
  undo.defer(() => void second.kill('SIGKILL'));
  const ada = slack.createPerson({ name: 'ada' });
  const channel = slack.createChannel({ name: 'lab' });
  let steps = STEPS_AT_SLACK;
  let seconds: number | undefined;
  for await (const line of createInterface({ input: second.stdout ?? process.stdin })) {
    console.log(line);
    if (/^[a-z_]+: /.test(line)) steps += 1;
    if (line.includes('The bot is running'))
      slack.say({ person: ada, channel, text: '@taskthread what can you do?' });
    if (!line.includes('everything works')) continue;
    seconds = (performance.now() - began) / 1_000;
    second.kill('SIGTERM');
  }
  if (seconds === undefined) throw new Error('connect has ended without an answer.');
  console.log(JSON.stringify({ bench: 'connect', secondsToFirstAnswer: round(seconds), steps }));
}
