import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { Pool } from 'undici';
import { BotProcess } from '../src/sandbox/chaos/bot-process.ts';
import { startDatabase } from '../src/sandbox/database.ts';
import { setScenery } from '../src/sandbox/scenery.ts';
import { percentile, rounded } from './figures.ts';

const perSecond = 200;
const threads = 20;
/** Each side is measured so often for so long (s), by turns. */
const rounds = 4;
const warmUpSeconds = 2;

/** Sends signed events to one receiver, on the clock, whatever the answers. */
class Sender {
  readonly #pool: Pool;
  readonly #secret: string;
  readonly latencies: number[] = [];
  /** Those that were acknowledged. */
  readonly acknowledged: string[] = [];

  constructor(port: number, secret: string) {
    this.#pool = new Pool(`http://127.0.0.1:${port}`, { connections: 64 });
    this.#secret = secret;
  }

  async send(seconds: number, next: () => { name: string; body: string }, measured: boolean): Promise<void> {
    const began = performance.now();
    const under: Promise<void>[] = [];
    for (let sent = 0; sent < seconds * perSecond; sent += 1) {
      const wait = began + (sent * 1_000) / perSecond - performance.now();
      if (wait > 1) await sleep(wait);
      under.push(this.#one(next(), measured));
    }
    await Promise.all(under);
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }

  async #one({ name, body }: { name: string; body: string }, measured: boolean): Promise<void> {
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
    if (measured) this.latencies.push(performance.now() - start);
    if (answer.statusCode === 200) this.acknowledged.push(name);
  }
}

export async function run(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { seconds: { type: 'string', default: '5' } } });
  const figures = await measure(Number(values.seconds));
  console.table(figures);
  const { oursP50, oursP99, floorP50, floorP99, lost } = figures;
  const ratios = { p50Ratio: rounded(oursP50 / floorP50), p99Ratio: rounded(oursP99 / floorP99) };
  console.log(JSON.stringify({ bench: 'ack', ...ratios, lost }));
}

async function measure(seconds: number) {
  await using undo = new AsyncDisposableStack();
  const agentScript = { script: async (turn: { write(text: string): void }) => turn.write('Done.') };
  const { slack, settings, folder } = await setScenery({ transport: 'http', agent: agentScript }, undo);
  const { url } = await startDatabase(join(folder, 'data'), undo, { fsync: true });
  const environment = { ...settings, DATABASE_URL: url };
  const floorProgram = fileURLToPath(new URL('ack-floor.ts', import.meta.url));
  const ours = await started(new BotProcess(environment, join(folder, 'ours.log')), undo);
  const floor = await started(new BotProcess(environment, join(folder, 'floor.log'), floorProgram), undo);

  const ada = slack.createPerson({ name: 'ada' });
  const channel = slack.createChannel({ name: 'acknowledged' });
  const roots = Array.from({ length: threads }, () => slack.say({ person: ada, channel, text: 'A thread.' }));
  let count = 0;
  const next = () => {
    count += 1;
    const root = roots[count % threads];
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

  const toOurs = new Sender(ours, slack.signingSecret);
  const toFloor = new Sender(floor, slack.signingSecret);
  await toFloor.send(warmUpSeconds, next, false);
  await toOurs.send(warmUpSeconds, next, false);
  for (let round = 0; round < rounds; round += 1) {
    await toFloor.send(seconds, next, true);
    await toOurs.send(seconds, next, true);
  }
  await Promise.all([toOurs.close(), toFloor.close()]);
  return {
    events: toOurs.latencies.length,
    oursP50: rounded(percentile(toOurs.latencies, 0.5)),
    oursP99: rounded(percentile(toOurs.latencies, 0.99)),
    floorP50: rounded(percentile(toFloor.latencies, 0.5)),
    floorP99: rounded(percentile(toFloor.latencies, 0.99)),
    lost: await missing(url, toOurs.acknowledged),
  };
}

async function started(bot: BotProcess, undo: AsyncDisposableStack): Promise<number> {
  undo.defer(async () => void (await bot.stop()));
  await bot.ready();
  if (bot.port === undefined) throw new Error('A receiver did not start.');
  return bot.port;
}

/** How many acknowledged messages the inbox does not have. */
async function missing(url: string, acknowledged: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ count: number }>(
    'select count(*)::int as count from unnest($1::numeric[]) as said (ts) where not exists (select 1 from messages where messages.ts = said.ts)',
    [acknowledged],
  );
  await client.end();
  return rows[0]?.count ?? acknowledged.length;
}
