import { expect, onTestFinished, test } from 'vitest';
import { DatabaseProxy } from '../../../sandbox/chaos/database-proxy.ts';
import { connectionUrl } from '../../../sandbox/postgres-server.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { copyTemplateDatabase, dropDatabase } from '../../support/fresh-database.ts';

const THREADS = 24;
/** A channel takes a post a second. */
const CHANNELS = 6;
/** As many as there are requests between two attempts to send. */
const REFUSED_THREADS = 8;
/** The ids of turns; those of processes are of another version. */
const TURN_ID = /[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/g;

/** Loses the answer to one request about each thread, with its connection. */
class AnswerLoss {
  readonly #requestsLeft = new Map<string, number>();
  readonly #threadsByTurn = new Map<string, string>();
  readonly #lastThread = new WeakMap<object, string>();

  /** Loses the answer to request number `request` that is about a thread. */
  of(thread: string, request: number): void {
    this.#requestsLeft.set(thread, request);
  }

  get losses(): number {
    return [...this.#requestsLeft.values()].filter((left) => left <= 0).length;
  }

  readonly losesAnswer = (request: Buffer, connection: object): boolean => {
    const threads = this.#threadsIn(request.toString('latin1'), connection);
    for (const thread of threads) this.#requestsLeft.set(thread, (this.#requestsLeft.get(thread) ?? 0) - 1);
    return threads.some((thread) => this.#requestsLeft.get(thread) === 0);
  };

  #threadsIn(request: string, connection: object): string[] {
    const named = [...this.#requestsLeft.keys()].filter((ts) => request.includes(ts));
    const turns = request.match(TURN_ID) ?? [];
    const [only, ...others] = named;
    if (only !== undefined && others.length === 0)
      for (const turn of turns) this.#threadsByTurn.set(turn, only);
    const threads = new Set([...named, ...turns.flatMap((turn) => this.#threadsByTurn.get(turn) ?? [])]);
    // A commit names nothing.
    const last = this.#lastThread.get(connection);
    if (threads.size === 0 && last !== undefined && request.includes('commit')) threads.add(last);
    for (const thread of threads) this.#lastThread.set(connection, thread);
    return [...threads];
  }
}

/** An app whose database is behind a proxy, and whose sends in doubt are never settled by waiting. */
async function openBehindProxy() {
  const connection = await copyTemplateDatabase();
  onTestFinished(() => dropDatabase(connection));
  const proxy = await DatabaseProxy.start(() => connection);
  onTestFinished(() => proxy.stop());
  // Nobody waits for what a call may have done that was not made.
  const limits = { resendMs: 600_000 };
  const scene = await openAppScene({ databaseUrl: connectionUrl(proxy.connection), limits }, onTestFinished);
  return { scene, proxy };
}

test('a turn is carried out once, whichever answer of the database is lost', async () => {
  const { scene, proxy } = await openBehindProxy();
  const channels = Array.from({ length: CHANNELS }, () => scene.channel());
  const hellos = channels.map((channel) => ({ channel, root: scene.ask(channel, 'hello') }));
  for (const { channel, root } of hellos) await scene.finished(channel, root);

  const loss = new AnswerLoss();
  proxy.losesAnswer = loss.losesAnswer;
  const threads = Array.from({ length: THREADS }, (_, index) => {
    const channel = channels[index % CHANNELS] ?? scene.channel();
    const text = `number ${index}, please`;
    const root = scene.ask(channel, text, { files: [{ name: 'notes.txt', bytes: 'in short' }] });
    loss.of(root.ts, index + 1);
    return { text, channel, root };
  });
  for (const { text, channel, root } of threads)
    await scene.until(`the answer to "${text}" is whole`, () => {
      const [reply] = scene.replies(channel, root);
      return reply !== undefined && !/"(stop|go)"/.test(JSON.stringify(reply.blocks));
    });

  expect(loss.losses).toBeGreaterThan(THREADS / 2);
  const asked = scene.agent.tasks.flatMap(({ messages }) => messages.filter(({ role }) => role === 'user'));
  for (const { text, channel, root } of threads) {
    expect(asked.filter(({ content }) => JSON.stringify(content).includes(text))).toHaveLength(1);
    expect(scene.replies(channel, root)).toHaveLength(1);
    expect(scene.shown(channel, root)).toContain('notes.txt');
  }
});

test('a message that the service refuses for a while is sent soon after, whichever answer is lost', async () => {
  const { scene, proxy } = await openBehindProxy();
  const SEND = 'POST /experimental/tasks/{task_id}/messages';
  const refusal = { kind: 'status', status: 429 } as const;
  const accept = scene.agent.faults.add({ call: SEND, fault: refusal });
  const loss = new AnswerLoss();
  proxy.losesAnswer = loss.losesAnswer;
  const threads = Array.from({ length: REFUSED_THREADS }, (_, index) => {
    const channel = scene.channel();
    const text = `refused number ${index}`;
    const root = scene.ask(channel, text);
    loss.of(root.ts, Number.POSITIVE_INFINITY);
    return { text, channel, root };
  });
  for (const { channel, root } of threads)
    await scene.until('it waits', () => scene.shown(channel, root).includes('very busy'));
  for (const [index, { root }] of threads.entries()) loss.of(root.ts, index + 1);
  await scene.until('each has lost an answer', () => loss.losses === threads.length);
  accept();
  for (const { channel, root, text } of threads) {
    await scene.finished(channel, root);
    expect(scene.sentToAgent(text).texts).toHaveLength(1);
  }
});

test('a turn whose beginning has no answer posts its reply without a look for it', async () => {
  const { scene, proxy } = await openBehindProxy();
  let lost: string | undefined;
  proxy.losesAnswer = (request) => {
    const [turn] = request.toString('latin1').match(TURN_ID) ?? [];
    const isFirst = lost === undefined && turn !== undefined;
    if (isFirst) lost = turn;
    return isFirst;
  };
  const channel = scene.channel();
  const root = scene.ask(channel, 'hello');
  await scene.finished(channel, root);
  expect(lost).toBeDefined();
  expect(scene.replies(channel, root)).toHaveLength(1);
  expect(scene.slack.calls.filter(({ method }) => method === 'conversations.replies')).toEqual([]);
});
