import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import type { AgentService } from '../sandbox/agent/agent-service.ts';
import type { S3Location } from '../sandbox/agent/storage.ts';
import { BotProcess } from '../sandbox/bot-process.ts';
import { givenDatabaseUrl } from '../sandbox/postgres-server.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import type { SlackFile, SlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { round } from './statistics.ts';

const MEBIBYTE = 1024 * 1024;
const PLAIN_COPY_PROGRAM = fileURLToPath(new URL('plain-copy.ts', import.meta.url));
const S3_PROGRAM = fileURLToPath(new URL('s3-process.ts', import.meta.url));
const execute = promisify(execFile);
const s3LocationSchema = z.object({
  endpoint: z.string(),
  bucket: z.string(),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
});
/** Between two readings of the bot's memory (ms). */
const MEMORY_POLL_MS = 50;
const TIMEOUT_MS = 30 * 60_000;

/**
 * Sends one file from Slack through the bot to a real S3 server, and compares that with a plain download piped to one
 * PUT. What the service itself takes to assemble the parts, in the finalize call, is reported beside the ratio. `--size` is
 * in MiB (default 2048). The last line is JSON.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({ args: [...args], options: { size: { type: 'string', default: '2048' } } });
  const mib = Number(values.size);
  if (!(mib > 0)) throw new Error('--size must be a number of MiB.');
  say(JSON.stringify({ bench: 'files', ...(await measure(mib)) }));
}

async function measure(mib: number) {
  await using undo = new AsyncDisposableStack();
  const { slack, agent, settings, folder } = await startSandboxServices(
    {
      databaseUrl: await givenDatabaseUrl(undo),
      slack: { limits: 'off' },
      agent: {
        storage: { s3: await startStorage(undo) },
        behaviour: { givesPartSize: false },
        script: async (turn) => turn.write('It is here.'),
      },
      settings: { FILE_LIMIT_MIB: '1000000', FILES_LIMIT_MIB: '1000000' },
    },
    undo,
  );
  const bot = new BotProcess(settings, join(folder, 'bot.log'));
  undo.defer(async () => void (await bot.stop()));
  if (!(await bot.ready())) throw new Error('The bot did not start.');

  // A small file first, so that the measurement leaves out the loading of code.
  const transfer = new FileTransfer(slack, agent);
  await transfer.pass('warm-up.bin', 20 * MEBIBYTE);
  const file = transfer.place('plain.bin', mib * MEBIBYTE);
  // Once before and once after, so that other load on the machine affects both measurements.
  const plainMs = [await timePlainCopy(slack, agent, file)];
  const { pid } = bot;
  if (pid === undefined) throw new Error('The bot process has no pid.');
  const before = await residentBytes(pid);
  const memory = trackPeakMemory(pid);
  const passed = await transfer.pass('large.bin', mib * MEBIBYTE);
  const peak = await memory.stop();
  const assembly = `the service assembled the parts in ${(passed.finalizeMs / 1000).toFixed(1)} s`;
  say(`through the bot: ${perSecond(mib, passed.ms)}; then ${assembly}`);
  plainMs.push(await timePlainCopy(slack, agent, file));
  for (const ms of plainMs) say(`plain download piped to one PUT: ${perSecond(mib, ms)}`);
  const meanMs = plainMs.reduce((sum, ms) => sum + ms, 0) / plainMs.length;

  const sha256 = createHash('sha256');
  for await (const chunk of passed.file.content.read(0, passed.file.content.size)) sha256.update(chunk);
  const stored = await agent.files.find(({ name }) => name === 'large.bin')?.sha256();
  return {
    mib,
    ratio: round(meanMs / passed.ms),
    mibPerSecond: round((mib * 1000) / passed.ms),
    assemblySeconds: round(passed.finalizeMs / 1000),
    rssGrowthMiB: Math.round((peak - before) / MEBIBYTE),
    sha256Equal: stored === sha256.digest('hex'),
  };
}

/** Starts the S3 server in processes of its own, so that it takes no CPU time from Slack's stand-in. */
async function startStorage(undo: AsyncDisposableStack): Promise<S3Location> {
  const folder = await mkdtemp(join(tmpdir(), 'taskthread-s3-'));
  undo.defer(() => rm(folder, { recursive: true, force: true }));
  const child = spawn(process.execPath, [S3_PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  undo.defer(async () => {
    child.stdin.end();
    if (child.exitCode === null) await once(child, 'exit');
  });
  const [line] = await once(child.stdout, 'data');
  return s3LocationSchema.parse(JSON.parse(String(line)));
}

/** Shares files with the bot and times their way to the service. */
class FileTransfer {
  readonly #slack: SlackWorkspace;
  readonly #agent: AgentService;
  readonly #person;
  readonly #channel;

  constructor(slack: SlackWorkspace, agent: AgentService) {
    this.#slack = slack;
    this.#agent = agent;
    this.#person = slack.createPerson({ name: 'ada' });
    this.#channel = slack.createChannel({ name: 'lab' });
  }

  /** Puts a file into Slack without telling the bot: the message mentions nobody. */
  place(name: string, size: number): SlackFile {
    const files = [{ name, mime: 'application/octet-stream', size }];
    const said = this.#slack.say({ person: this.#person, channel: this.#channel, text: 'mine', files });
    return this.#slack.file(said.fileIds[0] ?? '');
  }

  /** The time (ms) from the upload's start to its finalize call, and of that call, in which the service assembles the parts. */
  async pass(name: string, size: number): Promise<{ ms: number; finalizeMs: number; file: SlackFile }> {
    const from = this.#agent.calls.length;
    const said = this.#slack.say({
      person: this.#person,
      channel: this.#channel,
      text: `<@${this.#slack.bot.userId}> take ${name}`,
      files: [{ name, mime: 'application/octet-stream', size }],
    });
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const calls = this.#agent.calls.slice(from);
      const start = calls.find((call) => call.name === 'POST /experimental/files');
      const finalize = calls.find((call) => call.name.endsWith('/finalize'));
      const sent = calls.some((call) => call.name.endsWith('/messages') && call.body !== undefined);
      if (start !== undefined && finalize !== undefined && sent) {
        const file = this.#slack.file(said.fileIds[0] ?? '');
        return { ms: finalize.at - start.at, finalizeMs: finalize.ms, file };
      }
      if (Date.now() > deadline) throw new Error(`${name} did not reach the service.`);
      await sleep(50);
    }
  }
}

/** The time (ms) of a plain copy of the same file in a separate process. */
async function timePlainCopy(slack: SlackWorkspace, agent: AgentService, file: SlackFile): Promise<number> {
  const { size } = file.content;
  const call = async (path: string, body: object) => {
    const answer = await fetch(`${agent.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${agent.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  };
  const { multipartThreshold } = agent.behaviour;
  agent.behaviour.multipartThreshold = Number.POSITIVE_INFINITY;
  const started: unknown = await call('/experimental/files', {
    project_id: agent.projects[0]?.id,
    filename: 'plain.bin',
    size_bytes: size,
    mime_type: 'application/octet-stream',
  });
  agent.behaviour.multipartThreshold = multipartThreshold;
  const to = Object(started).upload_url;
  const from = `${new URL(slack.apiUrl).origin}/files-pri/${file.teamId}-${file.id}/download/large.bin`;
  const { stdout } = await execute(process.execPath, [PLAIN_COPY_PROGRAM, from, slack.botToken, String(to)]);
  await call(`/experimental/files/${Object(started).id}/finalize`, {});
  return Number(stdout);
}

function trackPeakMemory(pid: number): { stop(): Promise<number> } {
  let peak = 0;
  let isRunning = true;
  const polling = (async () => {
    while (isRunning) {
      peak = Math.max(peak, await residentBytes(pid));
      await sleep(MEMORY_POLL_MS);
    }
  })();
  return {
    stop: async () => {
      isRunning = false;
      await polling;
      return peak;
    },
  };
}

async function residentBytes(pid: number): Promise<number> {
  if (process.platform !== 'linux') {
    const { stdout } = await execute('ps', ['-o', 'rss=', '-p', String(pid)]);
    return Number(stdout) * 1024;
  }
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
}

function perSecond(mib: number, ms: number): string {
  return `${((mib * 1000) / ms).toFixed(0)} MiB/s`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
