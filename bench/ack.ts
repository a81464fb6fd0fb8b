import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Pool } from 'undici';
import { BotProcess } from '../sandbox/bot-process.ts';
import { startPostgresServer } from '../sandbox/postgres-server.ts';
import { startSandboxServices } from '../sandbox/sandbox-services.ts';
import { percentile, round } from './statistics.ts';

/** At most, to each side. */
const EVENTS_PER_SECOND = 100;
const THREADS = 20;
const WARM_UP_SECONDS = 3;

/** Sends signed events to one receiver and remembers how long each answer took. */
class EventSender {
  readonly #pool: Pool;
  readonly #secret: string;
  /** Of the events since the last reset (ms). */
  latencies: number[] = [];
  /** The ts of the acknowledged messages. */
  readonly acknowledged: string[] = [];

  constructor(port: number, secret: string) {
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 });
    this.#secret = secret;
  }

  async send({ name, body }: { name: string; body: string }): Promise<void> {
    const stamp = String(Math.floor(Date.now() / 1_000));
    const signature = createHmac('sha256', this.#secret).update(`v0:${stamp}:${body}`).digest('hex');
    const start = performance.now();
    const answer = await this.#pool.request({
      method: 'POST',
      path: '/slack/events',
      headers: {
        'content-type': 'application/json',
        'x-slack-request-timestamp': stamp,
        'x-slack-signature': `v0=${signature}`,
      },
      body,
    });
    await answer.body.dump();
    this.latencies.push(performance.now() - start);
    if (answer.statusCode === 200) this.acknowledged.push(name);
  }

  latency(share: number): number {
    return percentile(this.latencies, share);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
}

/**
 * Sends events to the sides in turn, one at a time, so that whatever else the machine does meets both; they take turns at
 * going first.
 */
async function sendInTurn(
  sides: readonly EventSender[],
  seconds: number,
  next: () => { name: string; body: string },
): Promise<void> {
  const began = performance.now();
  for (let sent = 0; performance.now() - began < seconds * 1_000; sent += 1) {
    for (const side of sent % 2 === 0 ? sides : sides.toReversed()) await side.send(next());
    const wait = began + ((sent + 1) * 1_000) / EVENTS_PER_SECOND - performance.now();
    if (wait > 1) await sleep(wait);
  }
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '30' } } });
  const stats = await measure(Number(values.seconds));
  console.table(stats);
  const { oursP50, oursP99, floorP50, floorP99, lost } = stats;
  const ratios = { p50Ratio: round(oursP50 / floorP50), p99Ratio: round(oursP99 / floorP99) };
  console.log(JSON.stringify({ bench: 'ack', ...ratios, lost }));
}

async function measure(seconds: number) {
  await using undo = new AsyncDisposableStack();
  const agentScript = { script: async (turn: { write(text: string): void }) => turn.write('Done.') };
  const { slack, settings, folder } = await startSandboxServices(
    { transport: 'http', agent: agentScript },
    undo,
  );
  const { url } = await startPostgresServer(join(folder, 'data'), undo, { fsync: true });
  const environment = { ...settings, DATABASE_URL: url };
  const baselineProgram = fileURLToPath(new URL('ack-baseline.ts', import.meta.url));
  const bot = await startBot(new BotProcess(environment, join(folder, 'ours.log')), undo);
  const baseline = await startBot(
    new BotProcess(environment, join(folder, 'floor.log'), baselineProgram),
    undo,
  );

  const ada = slack.createPerson({ name: 'ada' });
  const channel = slack.createChannel({ name: 'acknowledged' });
  const roots = Array.from({ length: THREADS }, () => slack.say({ person: ada, channel, text: 'A thread.' }));
  let count = 0;
  const next = () => {
    count += 1;
    const root = roots[count % THREADS];
    const ts = `${Math.floor(Date.now() / 1_000)}.${String(count).padStart(6, '0')}`;
    const event = {
      type: 'message',
      channel: channel.id,
      channel_type: 'channel',
      user: ada.id,
      text: `<@${slack.bot.userId}> question ${count}`,
      ts,
      thread_ts: root?.ts,
    };
    const team = slack.team.id;
    const authorizations = [{ team_id: team, user_id: slack.bot.userId, is_bot: true, enterprise_id: null }];
    const body = {
      type: 'event_callback',
      event_id: `Ev${count}`,
      event_time: Math.floor(Date.now() / 1_000),
      team_id: team,
      api_app_id: 'A0BENCH',
      authorizations,
      event,
    };
    return { name: ts, body: JSON.stringify(body) };
  };

  const toBot = new EventSender(bot, slack.signingSecret);
  const toBaseline = new EventSender(baseline, slack.signingSecret);
  const sides = [toBaseline, toBot];
  await sendInTurn(sides, WARM_UP_SECONDS, next);
  for (const side of sides) side.latencies = [];
  await sendInTurn(sides, seconds, next);
  await Promise.all(sides.map((side) => side.close()));
  return {
    events: toBot.latencies.length,
    oursP50: round(toBot.latency(0.5)),
    oursP99: round(toBot.latency(0.99)),
    floorP50: round(toBaseline.latency(0.5)),
    floorP99: round(toBaseline.latency(0.99)),
    lost: await countMissing(url, toBot.acknowledged),
  };
}

async function startBot(bot: BotProcess, undo: AsyncDisposableStack): Promise<number> {
  undo.defer(async () => void (await bot.stop()));
  await bot.ready();
  if (bot.port === undefined) throw new Error('A receiver did not start.');
  return bot.port;
}

/** How many acknowledged messages are missing from the inbox. */
async function countMissing(url: string, acknowledged: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from unnest($1::numeric[]) as said (ts) where not exists (select 1 from messages where messages.ts = said.ts)',
    [acknowledged],
  );
  await client.end();
  return rows[0]?.count ?? acknowledged.length;
}
