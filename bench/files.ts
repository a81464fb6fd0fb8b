import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { z } from 'zod';
import type { AgentService } from '../sandbox/agent/agent-service.ts';
import type { S3Location } from '../sandbox/agent/storage.ts';
import { BotProcess } from '../sandbox/bot-process.ts';
import { limitsSetting } from '../sandbox/bot-settings.ts';
import { givenDatabaseUrl } from '../sandbox/postgres-server.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import type { SlackFile, SlackWorkspace } from '../sandbox/slack/slack-workspace.ts';
import { residentBytes, trackPeakMemory } from './process-memory.ts';
import { percentile, round } from './statistics.ts';

const MEBIBYTE = 1024 * 1024;
const PLAIN_COPY_PROGRAM = fileURLToPath(new URL('plain-copy.ts', import.meta.url));
const S3_PROGRAM = fileURLToPath(new URL('s3-process.ts', import.meta.url));
const execute = promisify(execFile);
const s3LocationSchema = z.object({
  endpoint: z.string(),
  bucket: z.string(),
  credentials: z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }),
});
const uploadSchema = z.looseObject({ id: z.string(), upload_url: z.string() });
/** How often each side is measured; they take turns, and take turns at going first. */
const ROUNDS = 3;
const TIMEOUT_MS = 30 * 60_000;

/**
 * Sends files from Slack through the bot to a real S3 server, in turn with a plain download piped to one PUT. What the service
 * itself takes to assemble the parts, in the finalize call, is reported beside the ratio. `--size` is in MiB (default 2048).
 * The last line is JSON.
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
      settings: limitsSetting({ maxFileBytes: 1e12, maxMessageBytes: 1e12 }),
    },
    undo,
  );
  const bot = new BotProcess(settings, join(folder, 'bot.log'));
  undo.defer(async () => void (await bot.stop()));
  if (!(await bot.ready())) throw new Error('The bot did not start.');

  // A small file first, so that the measurement leaves out the loading of code.
  const transfer = new FileTransfer(slack, agent);
  await transfer.pass('warm-up.bin', 20 * MEBIBYTE);
  const { pid } = bot;
  if (pid === undefined) throw new Error('The bot process has no pid.');
  const before = await residentBytes(pid);
  const memory = trackPeakMemory(pid);
  const rounds: CopyTimes[] = [];
  for (let count = 0; count < ROUNDS; count += 1) {
    const times = await timeBoth(transfer, {
      name: `large-${count}.bin`,
      size: mib * MEBIBYTE,
      plainFirst: count % 2 === 0,
    });
    say(`through the bot ${perSecond(mib, times.botMs)}, plain ${perSecond(mib, times.plainMs)}`);
    rounds.push(times);
  }
  const peak = await memory.stop();
  const middle = (of: (times: CopyTimes) => number) => percentile(rounds.map(of), 0.5);
  return {
    mib,
    ratio: round(middle(({ plainMs, botMs }) => plainMs / botMs)),
    mibPerSecond: round(middle(({ botMs }) => (mib * 1_000) / botMs)),
    assemblySeconds: round(middle(({ finalizeMs }) => finalizeMs / 1_000)),
    rssGrowthMiB: Math.round((peak - before) / MEBIBYTE),
    sha256Equal: rounds.every(({ isEqual }) => isEqual),
  };
}

/** How long the copies of a round took (ms), and whether the service has what was shared. */
interface CopyTimes {
  botMs: number;
  plainMs: number;
  finalizeMs: number;
  isEqual: boolean;
}

/** Copies a file of this size each way. */
async function timeBoth(
  transfer: FileTransfer,
  { name, size, plainFirst }: { name: string; size: number; plainFirst: boolean },
): Promise<CopyTimes> {
  const early = plainFirst ? await transfer.copyPlainly(size) : undefined;
  const passed = await transfer.pass(name, size);
  return { ...passed, plainMs: early ?? (await transfer.copyPlainly(size)) };
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

  /**
   * Shares a file and mentions the bot. `botMs`: from the upload's start to its finalize call, and `finalizeMs`: that call, in
   * which the service assembles the parts.
   */
  async pass(name: string, size: number): Promise<Omit<CopyTimes, 'plainMs'>> {
    const from = this.#agent.calls.length;
    const file = this.#share(`<@${this.#slack.bot.userId}> take ${name}`, name, size);
    const deadline = Date.now() + TIMEOUT_MS;
    for (;;) {
      const calls = this.#agent.calls.slice(from);
      const start = calls.find((call) => call.name === 'POST /experimental/files');
      const finalize = calls.find((call) => call.name.endsWith('/finalize'));
      const sent = calls.some((call) => call.name.endsWith('/messages') && call.body !== undefined);
      if (start !== undefined && finalize !== undefined && sent) {
        const stored = await this.#agent.files.find((one) => one.name === name)?.sha256();
        const isEqual = stored === (await digestOf(file));
        return { botMs: finalize.at - start.at, finalizeMs: finalize.ms, isEqual };
      }
      if (Date.now() > deadline) throw new Error(`${name} did not reach the service.`);
      await sleep(50);
    }
  }

  /** The time (ms) of a plain copy of such a file in a process of its own. Nobody mentions the bot. */
  async copyPlainly(size: number): Promise<number> {
    const file = this.#share('mine', 'plain.bin', size);
    const { behaviour } = this.#agent;
    const { multipartThreshold } = behaviour;
    behaviour.multipartThreshold = Number.POSITIVE_INFINITY;
    const { id, upload_url: to } = uploadSchema.parse(
      await this.#call('/experimental/files', {
        project_id: this.#agent.projects[0]?.id,
        filename: 'plain.bin',
        size_bytes: size,
        mime_type: 'application/octet-stream',
      }),
    );
    behaviour.multipartThreshold = multipartThreshold;
    const { apiUrl, botToken } = this.#slack;
    const from = `${new URL(apiUrl).origin}/files-pri/${file.teamId}-${file.id}/download/plain.bin`;
    const { stdout } = await execute(process.execPath, [PLAIN_COPY_PROGRAM, from, botToken, to]);
    await this.#call(`/experimental/files/${id}/finalize`, {});
    return Number(stdout);
  }

  #share(text: string, name: string, size: number): SlackFile {
    const files = [{ name, mime: 'application/octet-stream', size }];
    const said = this.#slack.say({ person: this.#person, channel: this.#channel, text, files });
    return this.#slack.file(said.fileIds[0] ?? '');
  }

  async #call(path: string, body: object): Promise<unknown> {
    const answer = await fetch(`${this.#agent.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#agent.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return await answer.json();
  }
}

async function digestOf({ content }: SlackFile): Promise<string> {
  const sha256 = createHash('sha256');
  for await (const chunk of content.read(0, content.size)) sha256.update(chunk);
  return sha256.digest('hex');
}

function perSecond(mib: number, ms: number): string {
  return `${((mib * 1000) / ms).toFixed(0)} MiB/s`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
