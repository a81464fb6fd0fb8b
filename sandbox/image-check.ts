import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseOptions, runCommand } from '../src/operate/command-runner.ts';
import { DatabaseProxy } from './chaos/database-proxy.ts';
import { type Container, ContainerEngine } from './container.ts';
import { connectionUrl, startPostgresServer } from './postgres-server.ts';
import { type SandboxServices, startSandboxServices } from './sandbox-services.ts';
import { waitUntil } from './wait-until.ts';

const USAGE = 'npm run image-check [-- --engine docker]';
const HELP = `Builds the image and checks its size, its user and its exit codes. Runs it, without rights, with a Slack workspace, an
agent service and a database on this machine: it answers, and stops during the start and in the middle of a reply. Needs
Linux and a container engine; where none answers, nothing is checked. The last line is JSON.

Usage: ${USAGE}

  --engine   docker, or a program with the same options, such as podman`;

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const IMAGE = 'taskthread-image-check';
/** The most that the image may add to its base: modules and code. */
const MAX_BYTES = 45_000_000;
/** A container is slow to start, and the machine may be busy (ms). */
const TIMEOUT_MS = 120_000;
/** More than DRAIN_SECONDS, and what a busy machine adds (ms). */
const EXIT_TIMEOUT_MS = 20_000;

/** What went wrong in a check. */
class CheckError extends Error {
  override readonly name = 'CheckError';
}

/** One check: a sentence that is true afterwards, with its figure. Throws CheckError. */
type ImageCheck = (check: ImageScene) => Promise<string>;

/** What was measured: how much the image adds to its base (MB), and how many checks failed. Null where nothing was checked. */
interface ImageReport {
  megabytes: number | null;
  failed: number | null;
}

interface ImageScene extends SandboxServices {
  engine: ContainerEngine;
  /** Lets the agent end its replies. */
  finishReplies: () => void;
  /** Starts the image, which is removed at the end. */
  start: (settings?: Readonly<Record<string, string>>) => Promise<Container>;
  report: ImageReport;
  /** Asks in a new thread; `shows` waits until the thread shows some words. */
  ask: () => { shows: (words: string) => Promise<void> };
}

const CHECKS: readonly ImageCheck[] = [
  async ({ engine, report }) => {
    const sizes = (await engine.run(IMAGE, 'find', '/app', '-type', 'f', '-printf', '%s ')).trim().split(' ');
    const bytes = sizes.reduce((sum, one) => sum + Number(one), 0);
    report.megabytes = Math.round(bytes / 100_000) / 10;
    const size = `${report.megabytes} MB`;
    if (bytes === 0 || bytes > MAX_BYTES)
      throw new CheckError(`it adds ${size} to its base, more than 45 MB`);
    return `it adds ${size} to its base`;
  },
  async ({ engine }) => {
    const user = (await engine.run(IMAGE, 'id', '-u')).trim();
    if (user !== '1000') throw new CheckError(`it runs as user ${user}`);
    return 'it runs as user 1000';
  },
  async ({ start }) => {
    await expectExit(await start({}), 1);
    return 'without settings it exits with 1';
  },
  async ({ slack, start }) => {
    using mend = new DisposableStack();
    mend.defer(slack.faults.add({ call: 'auth.test', fault: { kind: 'latency', ms: TIMEOUT_MS } }));
    const container = await start();
    await until('it calls Slack', () => slack.calls.some(({ method }) => method === 'auth.test'));
    await container.terminate();
    const seconds = await expectExit(container, 0);
    return `SIGTERM during the start ends it in ${seconds} s with 0`;
  },
  async ({ start, ask, finishReplies }) => {
    const first = await start();
    const thread = ask();
    await thread.shows('Word');
    await first.terminate();
    const seconds = await expectExit(first, 0);
    const second = await start();
    finishReplies();
    await thread.shows('The end.');
    await second.terminate();
    await expectExit(second, 0);
    return `SIGTERM in the middle of a reply ends it in ${seconds} s with 0, and the next one completes the reply`;
  },
];

/** Waits until a container ends by itself; resolves to the seconds. */
async function expectExit(container: Container, code: number): Promise<number> {
  const began = performance.now();
  const late = pause(EXIT_TIMEOUT_MS, 'none' as const, { ref: false });
  const found = await Promise.race([container.ended(), late]);
  if (found !== code) throw new CheckError(`its exit code is ${found} instead of ${code}`);
  return Math.round((performance.now() - began) / 100) / 10;
}

/** Waits until something is so. */
async function until(what: string, look: () => boolean): Promise<void> {
  if (!(await waitUntil(look, TIMEOUT_MS, 100))) throw new CheckError(`this did not happen in time: ${what}`);
}

/** Starts all that the image needs; disposing `undo` stops it and removes the containers. */
async function openScene(
  engine: ContainerEngine,
  undo: AsyncDisposableStack,
): Promise<Omit<ImageScene, 'report'>> {
  let isFinishing = false;
  const services = await startSandboxServices(
    {
      slack: { limits: 'off' },
      agent: {
        script: async (turn) => {
          for (let word = 1; !isFinishing; word += 1) {
            turn.write(`Word ${word}. `);
            await turn.sleep(250);
          }
          turn.write('The end.');
        },
      },
    },
    undo,
  );
  const { connection } = await startPostgresServer(`${services.folder}/database`, undo);
  // The container does not see the server's socket.
  const proxy = await DatabaseProxy.start(() => connection);
  undo.defer(() => proxy.stop());
  const settings = { ...services.settings, DATABASE_URL: connectionUrl(proxy.connection) };
  const { slack } = services;
  const person = slack.createPerson({ name: 'ada' });
  const channel = slack.createChannel({ name: 'lab' });
  return {
    ...services,
    engine,
    finishReplies: () => {
      isFinishing = true;
    },
    start: async (own = settings) => {
      const container = await engine.start(IMAGE, own);
      undo.defer(() => container.remove());
      return container;
    },
    ask: () => {
      const root = slack.say({ person, channel, text: `<@${slack.bot.userId}> write` });
      const text = () => slack.thread(channel.id, root.ts).map((message) => slack.visibleText(message));
      return {
        shows: (words) => until(`the thread shows "${words}"`, () => text().join().includes(words)),
      };
    },
  };
}

async function checkImage(engine: ContainerEngine): Promise<ImageReport> {
  const report: ImageReport = { megabytes: null, failed: null };
  if (!(await engine.answers())) {
    console.log('No container engine answers: the image was not checked.');
    return report;
  }
  await engine.build(ROOT, IMAGE);
  console.log('OK    the image builds');
  await using undo = new AsyncDisposableStack();
  const scene = await openScene(engine, undo);
  report.failed = 0;
  for (const check of CHECKS) {
    try {
      console.log(`OK    ${await check({ ...scene, report })}`);
    } catch (error) {
      if (!(error instanceof CheckError)) throw error;
      report.failed += 1;
      console.log(`FAIL  ${error.message}`);
    }
  }
  return report;
}

await runCommand(HELP, async () => {
  const options = { engine: { type: 'string', default: 'docker' } } as const;
  const { engine } = parseOptions(USAGE, process.argv.slice(2), options);
  const report = await checkImage(new ContainerEngine(engine));
  console.log(JSON.stringify({ imageCheck: true, ...report }));
  return (report.failed ?? 0) === 0 ? 0 : 1;
});
