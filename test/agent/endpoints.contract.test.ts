import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AgentService, startAgentService } from '../../sandbox/agent/agent-service.ts';
import { AgentClient } from '../../src/agent/agent-client.ts';
import type { Message, Project, Task } from '../../src/agent/service-schema.ts';
import { uploadFile } from '../../src/agent/upload-file.ts';

let service: AgentService;
let client: AgentClient;
let project: Project;

beforeAll(async () => {
  service = await startAgentService({
    pace: 0.05,
    script: async (turn) => {
      if (turn.text === 'long') {
        turn.write('I begin. ');
        await turn.sleep(600_000);
      }
      if (turn.text === 'many') {
        for (let at = 0; at < 150; at += 1) await turn.result(`${at}.txt`, 'text/plain', 'x');
        return;
      }
      const attached = turn.files.map(({ name }) => name).join(',');
      await turn.tool('look', { at: attached }, () => 'seen');
      for (const name of ['a.txt', 'b.txt', 'c.txt']) await turn.result(name, 'text/plain', `of ${name}`);
      turn.block({ type: 'citation', source: 'x' });
      turn.write(`You said: ${turn.text}`);
      turn.review({ findings: 'Sound.', afterMs: 0 });
    },
  });
  client = new AgentClient({ baseUrl: service.url, allowedHosts: ['127.0.0.1'], apiKey: service.apiKey });
  project = await client.createProject({ title: 'Cells' });
});

afterAll(async () => {
  await client.close();
  await service.stop();
});

const newTask = (title = 'T') => client.startTask({ projectId: project.id, title });

async function settled(task: Task): Promise<Task> {
  return await expect
    .poll(() => client.getTask(task.id), { interval: 10, timeout: 20_000 })
    .toMatchObject({ status: expect.stringMatching(/completed|cancelled|failed/) })
    .then(() => client.getTask(task.id));
}

async function said(task: Task, content: string): Promise<Message[]> {
  await client.sendMessage(task.id, { content });
  await settled(task);
  return (await client.listMessages(task.id)).items.slice(-2);
}

describe('projects', () => {
  test('are created with an empty description, renamed and cleared', async () => {
    const created = await client.createProject({ title: 'New' });
    expect(created).toMatchObject({ title: 'New', description: '' });
    await client.updateProject(created.id, { description: 'About' });
    const described = await client.readProject(created.id);
    expect(described).toMatchObject({ id: created.id, title: 'New', description: 'About' });
    await client.updateProject(created.id, { title: 'Newer', description: '' });
    expect(await client.readProject(created.id)).toMatchObject({ title: 'Newer', description: '' });
  });
});

describe('tasks', () => {
  test('start idle, can be read and deleted, and are listed newest first', async () => {
    const own = await client.createProject({ title: 'Own' });
    const tasks: Task[] = [];
    for (const title of ['one', 'two', 'three']) {
      tasks.push(await client.startTask({ projectId: own.id, title, model: 'fast' }));
    }
    expect(tasks[0]).toMatchObject({ status: 'idle', title: 'one', reviews: [] });
    expect(await client.getTask(tasks[0]?.id ?? '')).toMatchObject({ title: 'one' });

    const first = await client.listTasks(own.id, { limit: 2 });
    expect(first.items.map(({ title }) => title)).toEqual(['three', 'two']);
    expect(first.hasMore).toBe(true);
    const second = await client.listTasks(own.id, { limit: 2, after: first.cursor ?? undefined });
    expect(second.items.map(({ title }) => title)).toEqual(['one']);

    const id = tasks[1]?.id ?? '';
    await client.deleteTask(id);
    await expect(client.getTask(id)).rejects.toMatchObject({ code: 'not_found' });
  });

  test.each([false, true])('are cancelled (force: %s)', async (force) => {
    const task = await newTask();
    await client.sendMessage(task.id, { content: 'long' });
    await client.cancelTask(task.id, { force });
    expect(await settled(task)).toMatchObject({ status: 'cancelled' });
    const bodies = service.calls.filter(({ name }) => name.endsWith('{task_id}/cancel'));
    expect(bodies.at(-1)?.body).toEqual(force ? { force: true } : undefined);
  });

  test('contain their reviews, whose findings are a message', async () => {
    const task = await newTask();
    await said(task, 'hello');
    await expect
      .poll(async () => (await client.getTask(task.id)).reviews[0]?.status, { interval: 10 })
      .toBe('completed');
    const { reviews } = await client.getTask(task.id);
    const findings = await client.getMessage(task.id, reviews[0]?.messageId ?? '');
    expect(findings.content).toEqual([{ kind: 'text', text: 'Sound.' }]);
    expect(reviews[0]).toEqual({ status: 'completed', messageId: findings.id, errorMessage: null });
  });
});

describe('messages', () => {
  test('are sent, receive a reply block by block and can be read', async () => {
    const task = await newTask();
    const sent = await client.sendMessage(task.id, { content: 'hello' });
    const content = [{ kind: 'text', text: 'hello' }];
    expect(sent.userMessage).toMatchObject({ role: 'user', content, status: null, input: null });
    expect(await client.getMessage(task.id, sent.userMessage?.id ?? '')).toEqual(sent.userMessage);
    await settled(task);
    const reply = await client.getMessage(task.id, sent.assistantMessage?.id ?? '');
    expect(reply).toMatchObject({
      role: 'assistant',
      status: 'completed',
      stopReason: 'stop',
      error: null,
      input: { userMessageId: sent.userMessage?.id, fileIds: [] },
    });
    expect(reply.content.map(({ kind }) => kind)).toEqual(['tool_use', 'tool_result', 'other', 'text']);
    expect(reply.content[2]).toEqual({
      kind: 'other',
      type: 'citation',
      raw: { type: 'citation', source: 'x' },
    });
  });

  test('are listed in pages by id', async () => {
    const task = await newTask();
    for (const content of ['1', '2', '3', '4']) await said(task, content);
    const everything = (await client.listMessages(task.id)).items;
    expect(everything).toHaveLength(8);
    const ids = everything.map(({ id }) => id);
    const page = await client.listMessages(task.id, { limit: 10, beforeId: ids[6] });
    expect(page.items.length).toBeGreaterThan(0);
    expect(page.items.at(-1)?.id).toBe(ids[5]);
    const walked: string[] = [];
    for await (const message of client.messagesAfter(task.id, ids[1] ?? '', { limit: 7 })) {
      walked.push(message.id);
    }
    expect(walked).toEqual(ids.slice(2));
    expect((await client.lastMessage(task.id))?.id).toBe(ids.at(-1));
  });

  test('contain the given files and skill, and no other field', async () => {
    const file = await uploadFile(client, {
      projectId: project.id,
      filename: 'in.csv',
      sizeBytes: 3,
      mimeType: 'text/csv',
      open: async () => chunks('a,b'),
    });
    const task = await newTask();
    const message = { content: 'x', fileIds: [file.id, 'file_gone'], skill: 'summary', model: 'max' };
    const sent = await client.sendMessage(task.id, message);
    expect(sent.assistantMessage?.input?.fileIds).toEqual([file.id]);
    const call = service.calls.findLast(({ name }) => name === 'POST /experimental/tasks/{task_id}/messages');
    expect(call?.body).toEqual({ content: 'x', file_ids: [file.id, 'file_gone'], skill: 'summary' });
    await settled(task);
  });

  test('cancel their task when they are cancelled', async () => {
    const task = await newTask();
    const { assistantMessage } = await client.sendMessage(task.id, { content: 'long' });
    const id = assistantMessage?.id ?? '';
    await expect.poll(async () => (await client.getMessage(task.id, id)).content).not.toEqual([]);
    await client.cancelMessage(task.id, id);
    expect((await client.getMessage(task.id, id)).status).toMatch(/^cancell(ing|ed)$/);
    expect(await settled(task)).toMatchObject({ status: 'cancelled' });
  });

  test('are cancelled by one call, even where its answer is lost: a second one might stop the next reply', async () => {
    const task = await newTask();
    const { assistantMessage } = await client.sendMessage(task.id, { content: 'long' });
    const call = 'POST /experimental/tasks/{task_id}/messages/{message_id}/cancel';
    service.faults.add({ call, fault: { kind: 'lost' }, times: 1 });
    const calls = () => service.calls.filter(({ name }) => name === call).length;
    const before = calls();
    const cancelled = client.cancelMessage(task.id, assistantMessage?.id ?? '');
    await expect(cancelled).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    expect(calls() - before).toBe(1);
    expect(await settled(task)).toMatchObject({ status: 'cancelled' });
  });
});

describe('files and results', () => {
  test('are described and downloaded', async () => {
    const file = await uploadFile(client, {
      projectId: project.id,
      filename: 'note.txt',
      sizeBytes: 5,
      mimeType: 'text/plain',
      open: async () => chunks('he', 'llo'),
    });
    expect(await client.getFile(file.id)).toEqual(file);
    expect(file).toMatchObject({ filename: 'note.txt', sizeBytes: 5 });
    expect(await textOf(await client.openFileContent(file.id))).toBe('hello');
  });

  test('are listed page by page, each once, with links that work without the key', async () => {
    const task = await newTask();
    await said(task, 'files');
    const page = await client.listResults(task.id, { limit: 2 });
    expect(page.items.map(({ name }) => name)).toEqual(['a.txt', 'b.txt']);
    expect(page).toMatchObject({ hasMore: true, cursor: page.items[1]?.id });
    const { results: all, isComplete } = await client.allResults(task.id);
    expect(isComplete).toBe(true);
    expect(all.map(({ name }) => name)).toEqual(['a.txt', 'b.txt', 'c.txt']);
    expect(await textOf(await client.links.get(all[2]?.downloadUrl ?? ''))).toBe('of c.txt');
    const bare = await client.listResults(task.id, { withUrls: false, reconcile: false });
    expect(bare.items[0]).toMatchObject({ name: 'a.txt', downloadUrl: null });
  });
});

test.for([
  { what: 'all, where pages have a cursor', listCursors: true, read: 150 },
  { what: 'all, where pages do not name their last id', listCursors: true, lastId: null, read: 150 },
  { what: 'the first page once, where the service knows no cursor', listCursors: false, read: 100 },
])('of over a hundred results $what is read', async ({ listCursors, lastId, read }) => {
  const task = await newTask();
  await said(task, 'many');
  service.behaviour.listCursors = listCursors;
  service.behaviour.misbehaviour = (_, body) =>
    lastId === null ? { kind: 'body', body: { ...body, last_id: null } } : undefined;
  const { results, isComplete } = await client.allResults(task.id);
  service.behaviour.listCursors = true;
  service.behaviour.misbehaviour = null;
  expect(isComplete).toBe(listCursors);
  expect(results.map(({ name }) => name)).toEqual(Array.from({ length: read }, (_, at) => `${at}.txt`));
});

async function* chunks(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function textOf({ body }: { body: AsyncIterable<unknown> }): Promise<string> {
  let text = '';
  for await (const chunk of body) text += String(chunk);
  return text;
}
