import { describe, expect, test } from 'vitest';
import type { AgentTurn } from '../../../sandbox/agent/agent-script.ts';
import { TurnCancelled } from '../../../sandbox/agent/agent-script.ts';
import { reached, services, type TestClient, textOf } from '../../support/agent-test-client.ts';

const start = services();

/** A task with one message sent to it; `reply` is the id of the answer. */
async function sent(client: TestClient, content = 'Go') {
  const task = await client.newTask();
  const { assistant_message } = await client.send(task, content);
  return { task, reply: assistant_message?.id ?? '' };
}

async function forever(turn: AgentTurn): Promise<void> {
  turn.write('Working');
  for (;;) await turn.sleep(1000);
}

describe('writing', () => {
  test('lets a reply grow in its last text block, tool calls as blocks of their own', async () => {
    const client = await start({
      script: async (turn) => {
        turn.write('One ');
        turn.write('two');
        await turn.tool('look', { at: 1 }, () => 'seen');
        turn.write('Three');
        turn.block({ type: 'odd', x: 1 });
      },
    });
    const { task, reply } = await sent(client);
    await reached(client.service, reply, 'completed');
    const { content } = await client.message(task, reply);
    const id = content[1]?.id;
    expect(content).toEqual([
      { type: 'text', text: 'One two' },
      { type: 'tool_use', id, name: 'look', input: { at: 1 } },
      { type: 'tool_result', tool_use_id: id, content: 'seen' },
      { type: 'text', text: 'Three' },
      { type: 'odd', x: 1 },
    ]);
  });

  test('adds a block for each piece where the dialect says so', async () => {
    const client = await start({
      behaviour: { growth: 'new-blocks' },
      script: async (turn) => {
        turn.write('One ');
        turn.write('two');
      },
    });
    const { task, reply } = await sent(client);
    await reached(client.service, reply, 'completed');
    expect((await client.message(task, reply)).content).toHaveLength(2);
  });

  test('shows a reply in progress as it is at the time it is read', async () => {
    const client = await start({
      script: async (turn) => {
        turn.write('Half');
        await turn.ask('');
        turn.write(' and half');
      },
    });
    const { task, reply } = await sent(client);
    await expect.poll(async () => textOf(await client.message(task, reply))).toBe('Half');
    expect((await client.message(task, reply)).status).toBe('streaming');
    await client.send(task, 'Go on');
    await reached(client.service, reply, 'completed');
    expect(textOf(await client.message(task, reply))).toBe('Half and half');
  });

  test.each([
    ['stop', 'completed'],
    ['length', 'completed'],
    ['error', 'failed'],
    ['cancelled', 'cancelled'],
  ] as const)('ends with stop reason %s as %s', async (reason, status) => {
    const client = await start({ script: async (turn) => turn.end(reason) });
    const { task, reply } = await sent(client);
    await reached(client.service, task, status);
    expect(await client.message(task, reply)).toMatchObject({ status, stop_reason: reason });
  });

  test('fails the task when the script throws', async () => {
    const client = await start({ script: () => Promise.reject(new Error('Out of beakers')) });
    const { task, reply } = await sent(client);
    await reached(client.service, task, 'failed');
    expect(await client.message(task, reply)).toMatchObject({
      error: 'Out of beakers',
      stop_reason: 'error',
    });
  });
});

describe('cancelling', () => {
  test('lets the reply wind down: the task is cancelled at once, the reply when it has stopped', async () => {
    const { promise: mayStop, resolve: stopNow } = Promise.withResolvers<void>();
    const client = await start({
      script: async (turn) => {
        try {
          await forever(turn);
        } catch (error) {
          await mayStop;
          turn.write(', stopped');
          throw error;
        }
      },
    });
    const { task, reply } = await sent(client);
    const answer = await client.call('POST', `/experimental/tasks/${task}/messages/${reply}/cancel`);
    expect(answer.body).toEqual({ type: 'message_status', id: reply, status: 'cancelling' });
    expect(await client.status(task)).toBe('cancelled');
    stopNow();
    await reached(client.service, reply, 'cancelled');
    const message = await client.message(task, reply);
    expect(message).toMatchObject({ stop_reason: 'cancelled' });
    expect(textOf(message)).toBe('Working, stopped');
  });

  test('takes the pen away at once with force', async () => {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>();
    const client = await start({
      script: async (turn) => {
        turn.signal.addEventListener('abort', () => {
          try {
            turn.write('too late');
          } catch (error) {
            resolve(error);
          }
        });
        await forever(turn);
      },
    });
    const { task, reply } = await sent(client);
    await expect.poll(async () => textOf(await client.message(task, reply))).toBe('Working');
    const answer = await client.call('POST', `/experimental/tasks/${task}/cancel`, { force: true });
    expect(answer.body).toEqual({ type: 'task_status', id: task, status: 'cancelled' });
    expect(await client.message(task, reply)).toMatchObject({
      status: 'cancelled',
      stop_reason: 'cancelled',
    });
    expect(await ended).toBeInstanceOf(TurnCancelled);
    expect(textOf(await client.message(task, reply))).toBe('Working');
  });

  test('answers with the present status where nothing runs, or with 409', async () => {
    const client = await start({ script: async () => {} });
    const { task } = await sent(client);
    await reached(client.service, task, 'completed');
    const path = `/experimental/tasks/${task}/cancel`;
    expect((await client.call('POST', path)).body).toMatchObject({ status: 'completed' });
    client.service.behaviour.cancelSettled = 409;
    expect((await client.call('POST', path)).status).toBe(409);
  });
});

describe('asking', () => {
  test('waits silent and running until the next message, which it takes in spite of running', async () => {
    const client = await start({ script: async (turn) => turn.write(await turn.ask('Which? ')) });
    const { task, reply } = await sent(client);
    await expect.poll(async () => textOf(await client.message(task, reply))).toBe('Which? ');
    expect(await client.status(task)).toBe('running');
    const { assistant_message } = await client.send(task, 'The second');
    expect(assistant_message?.id).toBe(reply);
    await reached(client.service, task, 'completed');
    expect(textOf(await client.message(task, reply))).toBe('Which? The second');
  });

  test('goes on in a new reply where the dialect says so', async () => {
    const client = await start({
      behaviour: { afterAsk: 'new-reply' },
      script: async (turn) => turn.write(await turn.ask('Which?')),
    });
    const { task, reply } = await sent(client);
    await expect.poll(async () => textOf(await client.message(task, reply))).toBe('Which?');
    const { user_message, assistant_message } = await client.send(task, 'The second');
    expect(assistant_message?.input).toMatchObject({ user_message_id: user_message.id });
    await reached(client.service, task, 'completed');
    expect((await client.messages(task)).data.map(textOf)).toEqual([
      'Go',
      'Which?',
      'The second',
      'The second',
    ]);
    expect((await client.message(task, reply)).status).toBe('completed');
  });

  test('can be cancelled while it waits', async () => {
    const client = await start({ script: async (turn) => turn.write(await turn.ask('Which?')) });
    const { task, reply } = await sent(client);
    await expect.poll(async () => textOf(await client.message(task, reply))).toBe('Which?');
    await client.call('POST', `/experimental/tasks/${task}/cancel`);
    await reached(client.service, reply, 'cancelled');
  });
});

describe('after the reply', () => {
  test('keeps the task running while background work goes on, whose files appear late', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const client = await start({
      script: async (turn) => {
        turn.background(async () => {
          await released;
          await turn.result('late.txt', 'text/plain', 'late');
        });
      },
    });
    const { task, reply } = await sent(client);
    await reached(client.service, reply, 'completed');
    expect(await client.status(task)).toBe('running');
    release();
    await reached(client.service, task, 'completed');
    expect((await client.results(task)).data.map(({ name }) => name)).toEqual(['late.txt']);
  });

  test('leaves the reply completed when its background work is cancelled', async () => {
    const client = await start({ script: async (turn) => turn.background(1e9) });
    const { task, reply } = await sent(client);
    await reached(client.service, reply, 'completed');
    await client.call('POST', `/experimental/tasks/${task}/cancel`);
    expect(await client.status(task)).toBe('cancelled');
    expect((await client.message(task, reply)).status).toBe('completed');
  });

  test('shows a review once its findings are written, its message once it has completed', async () => {
    const never = 1e8;
    const times: Record<string, object> = { unwritten: { afterMs: never }, unsettled: { verifyMs: never } };
    const client = await start({
      script: async (turn) => turn.review({ findings: 'Sound.', ...times[turn.text] }),
    });
    /** The task of a review that stays where its name says, by what is told of it, and the id of its message. */
    const reviewed = async (words: string, reviews: object[]) => {
      const { task } = await sent(client, words);
      await reached(client.service, task, 'completed');
      const read = async () => (await client.call('GET', `/experimental/tasks/${task}`)).body;
      await expect.poll(read).toMatchObject({ reviews });
      const record = client.service.tasks.find(({ id }) => id === task);
      return { task, id: record?.reviews[0]?.messageId ?? '' };
    };
    await reviewed('unwritten', []);
    const running = await reviewed('unsettled', [{ status: 'running' }]);
    const path = `/experimental/tasks/${running.task}/messages/${running.id}`;
    expect((await client.call('GET', path)).status).toBe(404);
    const { task, id } = await reviewed('settled', [{ status: 'completed', error_message: null }]);
    expect(textOf(await client.message(task, id))).toBe('Sound.');
    expect((await client.messages(task)).data.map((message) => message.id)).not.toContain(id);
  });

  test('shows a review that failed with its error', async () => {
    const client = await start({ script: async (turn) => turn.review({ error: 'No reviewer' }) });
    const { task } = await sent(client);
    await expect
      .poll(async () => (await client.call('GET', `/experimental/tasks/${task}`)).body)
      .toMatchObject({ reviews: [{ status: 'failed', message_id: null, error_message: 'No reviewer' }] });
  });
});
