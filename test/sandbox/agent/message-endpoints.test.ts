import { describe, expect, test } from 'vitest';
import { reached, services, textOf } from '../../support/agent-test-client.ts';

const start = services();
const echo = { script: async (turn: { text: string; write(text: string): void }) => turn.write(turn.text) };

describe('sending', () => {
  test('answers with the user message and the reply so far, and settles the task', async () => {
    const client = await start(echo);
    const task = await client.newTask();
    const answer = await client.call('POST', `/experimental/tasks/${task}/messages`, { content: 'Hello' });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      type: 'message_result',
      task: { id: task, status: 'running' },
      user_message: { role: 'user', content: [{ type: 'text', text: 'Hello' }] },
      assistant_message: { role: 'assistant', status: 'streaming', content: [], stop_reason: null },
      raw: null,
    });
    await expect.poll(() => client.status(task)).toBe('completed');
    const [user, reply] = (await client.messages(task)).data;
    expect(reply).toMatchObject({
      status: 'completed',
      stop_reason: 'stop',
      content: [{ type: 'text', text: 'Hello' }],
      input: { user_message_id: user?.id, file_ids: [] },
    });
  });

  test('takes blocks as content, and refuses none', async () => {
    const client = await start(echo);
    const task = await client.newTask();
    const path = `/experimental/tasks/${task}/messages`;
    expect((await client.call('POST', path, { content: '' })).status).toBe(422);
    expect((await client.call('POST', path, {})).status).toBe(422);
    expect((await client.call('POST', path, { content: [{ text: 'no type' }] })).status).toBe(422);
    const { user_message } = await client.send(task, [{ type: 'text', text: 'Blocks' }]);
    expect(textOf(user_message)).toBe('Blocks');
  });

  test('refuses unknown skills with 404 and unknown models with 422', async () => {
    const client = await start({ ...echo, skills: [{ id: 'skl_1', name: 'triage' }] });
    const task = await client.newTask();
    const path = `/experimental/tasks/${task}/messages`;
    expect((await client.call('POST', path, { content: 'x', skill: 'none' })).status).toBe(404);
    expect((await client.call('POST', path, { content: 'x', model: 'none' })).status).toBe(422);
    expect((await client.call('POST', path, { content: 'x', skill: 'triage' })).status).toBe(200);
  });

  test('skips attachments that cannot be read and leaves them out of file_ids', async () => {
    const client = await start(echo);
    const project = await client.project();
    const task = await client.task(project);
    const good = await client.upload(project, 'good.csv', 'a\n1\n');
    const elsewhere = await client.upload(await client.project(), 'else.csv', 'a\n1\n');
    const { id: unfinished } = await client.startUpload(project, 'open.csv', 4);
    const file_ids = [good, elsewhere, unfinished, 'file_none'];
    const { assistant_message } = await client.send(task, 'Look', { file_ids });
    expect(assistant_message?.input).toMatchObject({ file_ids: [good] });
  });

  test('holds the answer until the reply is complete where the dialect says so', async () => {
    const client = await start({
      behaviour: { send: 'held' },
      script: async (turn) => {
        await turn.sleep(4000);
        turn.write('Done');
      },
    });
    const { assistant_message } = await client.send(await client.newTask(), 'Go');
    expect(assistant_message).toMatchObject({
      status: 'completed',
      content: [{ type: 'text', text: 'Done' }],
    });
  });

  test('refuses a message to a running task, or queues it', async () => {
    const first = Promise.withResolvers<void>();
    const client = await start({
      script: async (turn) => {
        await first.promise;
        turn.write(`${turn.history.length} before ${turn.text}`);
      },
    });
    const task = await client.newTask();
    await client.send(task, 'one');
    const path = `/experimental/tasks/${task}/messages`;
    expect((await client.call('POST', path, { content: 'two' })).status).toBe(409);
    client.service.behaviour.messageToRunning = 'accepted';
    const { assistant_message } = await client.send(task, 'two');
    expect(assistant_message?.status).toBe('pending');
    first.resolve();
    await reached(client.service, task, 'completed');
    const { data } = await client.messages(task);
    expect(data.map(textOf)).toEqual(['one', '0 before one', 'two', '2 before two']);
  });

  test.each([409, 422] as const)('refuses a message to a failed task with %i', async (status) => {
    const client = await start({
      behaviour: { messageToStopped: status },
      script: async (turn) => turn.fail('Broken'),
    });
    const task = await client.newTask();
    const { assistant_message } = await client.send(task, 'Go');
    await reached(client.service, task, 'failed');
    expect(await client.message(task, assistant_message?.id ?? '')).toMatchObject({
      status: 'failed',
      stop_reason: 'error',
      error: 'Broken',
    });
    const path = `/experimental/tasks/${task}/messages`;
    expect((await client.call('POST', path, { content: 'Again' })).status).toBe(status);
  });

  test.each([
    ['null', null],
    ['null-file-ids', { user_message_id: expect.any(String), file_ids: null }],
  ] as const)('gives input as %s', async (input, expected) => {
    const client = await start({ ...echo, behaviour: { input } });
    const { assistant_message } = await client.send(await client.newTask(), 'Hi');
    expect(assistant_message?.input).toEqual(expected);
  });
});

describe('listing', () => {
  test('gives the most recent stretch first, bounded by events, oldest first within it', async () => {
    const client = await start(echo);
    const task = await client.newTask();
    for (const text of ['one', 'two', 'three']) {
      await client.send(task, text);
      await reached(client.service, task, 'completed');
    }
    // Every message is two events: its start and one block.
    const page = await client.messages(task, '?limit=5');
    expect(page.data.map((message) => `${message.role} ${textOf(message)}`)).toEqual([
      'user three',
      'assistant three',
    ]);
    expect(page.has_more).toBe(true);
    const older = await client.messages(task, `?limit=6&before_id=${page.data[0]?.id}`);
    expect(older.data.map(textOf)).toEqual(['one', 'two', 'two']);
    const all = await client.messages(task);
    expect(all.data).toHaveLength(6);
    expect(all.has_more).toBe(false);
    const newer = await client.messages(task, `?limit=2&after_id=${all.data[1]?.id}`);
    expect(newer.data.map(({ id }) => id)).toEqual([all.data[2]?.id]);
    expect(newer.has_more).toBe(true);
  });

  test('includes the named message where cursors are inclusive', async () => {
    const client = await start({ ...echo, behaviour: { messageCursors: 'inclusive' } });
    const task = await client.newTask();
    const { user_message } = await client.send(task, 'one');
    const { data } = await client.messages(task, `?after_id=${user_message.id}`);
    expect(data[0]?.id).toBe(user_message.id);
  });

  test('refuses a limit outside 1 to 500 and an unknown cursor', async () => {
    const client = await start(echo);
    const path = `/experimental/tasks/${await client.newTask()}/messages`;
    for (const limit of ['0', '501', 'ten', '1.5']) {
      expect((await client.call('GET', `${path}?limit=${limit}`)).status).toBe(422);
    }
    expect((await client.call('GET', `${path}?before_id=msg_none`)).status).toBe(404);
  });
});
