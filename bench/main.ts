import { buildBot } from '../sandbox/bot-process.ts';
import { givenServerProblem } from '../sandbox/postgres-server.ts';
import { temporaryFolder } from '../sandbox/temporary-folder.ts';
import { exitIfHelpIsAsked } from '../src/operate/command-runner.ts';

const [name, ...args] = process.argv.slice(2);

/** Each bench, by name. */
const benches: Record<string, () => Promise<{ run(args: string[]): Promise<void> }>> = {
  ack: () => import('./ack.ts'),
  connect: () => import('./connect.ts'),
  crowd: () => import('./crowd.ts'),
  database: () => import('./database.ts'),
  dois: () => import('./dois.ts'),
  'first-sign': () => import('./first-sign.ts'),
  files: () => import('./files.ts'),
  history: () => import('./history.ts'),
  live: () => import('./live.ts'),
  manners: () => import('./manners.ts'),
  peers: () => import('./peers.ts'),
  render: () => import('./render.ts'),
  scale: () => import('./scale.ts'),
  soak: () => import('./soak.ts'),
};

/** Those that restart their database server with other settings. */
const RESTARTING: readonly string[] = ['database', 'history'];

/** Those that measure a process of the bot, which is built as in the image. */
const STARTING: readonly string[] = ['ack', 'database', 'files', 'first-sign', 'soak'];

const USAGE = `Usage: npm run bench -- <${Object.keys(benches).join('|')}> ...`;
exitIfHelpIsAsked(USAGE);
const load = benches[name ?? ''];
if (load === undefined) {
  console.error(USAGE);
  process.exit(2);
}
const problem = RESTARTING.includes(name ?? '') ? givenServerProblem(`bench ${name}`) : undefined;
if (name === 'database' && process.platform !== 'linux') {
  console.error("bench database reads the server's CPU time from /proc, so it runs on Linux alone.");
  process.exit(2);
}
if (problem !== undefined) {
  console.error(problem);
  process.exit(2);
}
{
  await using undo = new AsyncDisposableStack();
  if (STARTING.includes(name ?? '')) await buildBot(await temporaryFolder(undo));
  await (await load()).run(args);
}
process.exit(process.exitCode ?? 0);
