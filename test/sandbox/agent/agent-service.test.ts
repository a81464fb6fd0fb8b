import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { ServiceBehaviour } from '../../../sandbox/agent/service-behaviour.ts';
import { services, TestClient } from '../../support/agent-test-client.ts';

const start = services();
const quiet = { script: async () => {} };

describe('projects', () => {
  test('creates a project with an empty description and changes only what is sent', async () => {
    const client = await start(quiet);
    const created = await client.call('POST', '/projects', { title: 'Assays' });
    expect(created.body).toMatchObject({ type: 'project', title: 'Assays', description: '' });
    const id = client.service.projects[0]?.id;
    const changed = await client.call('PUT', `/projects/${id}`, { description: 'Plate readers' });
    expect(changed.body).toMatchObject({ id, title: 'Assays', description: 'Plate readers' });
    const cleared = await client.call('PUT', `/projects/${id}`, { description: '' });
    expect(cleared.body).toMatchObject({ title: 'Assays', description: '' });
    const [project] = client.service.projects;
    expect(project?.updatedAt).toBeGreaterThan(project?.createdAt ?? 0);
  });

  test('refuses a project without a title', async () => {
    const client = await start(quiet);
    expect((await client.call('POST', '/projects', { description: 'x' })).status).toBe(422);
  });
});

describe('tasks', () => {
  test('starts idle with 201 and runs once initial messages are given', async () => {
    const client = await start(quiet);
    const project_id = await client.project();
    const idle = await client.call('POST', '/experimental/tasks', { project_id, title: 'A' });
    expect(idle.status).toBe(201);
    expect(idle.body).toMatchObject({
      type: 'task',
      status: 'idle',
      project_id,
      title: 'A',
      platform: 'api',
    });
    const initial_messages = [
      { role: 'user', content: 'One' },
      { role: 'assistant', content: 'Two' },
      { role: 'user', content: 'Three' },
    ];
    const running = await client.call('POST', '/experimental/tasks', {
      project_id,
      title: 'B',
      initial_messages,
    });
    expect(running.body).toMatchObject({ status: 'running' });
    expect(client.service.tasks[1]?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'user',
      'assistant',
    ]);
  });

  test('refuses an unknown model, a missing title, 21 initial messages and an unknown project', async () => {
    const client = await start(quiet);
    const project_id = await client.project();
    const statusOf = async (body: object): Promise<number> => {
      return (await client.call('POST', '/experimental/tasks', body)).status;
    };
    const many = Array.from({ length: 21 }, () => ({ role: 'user', content: 'x' }));
    expect(await statusOf({ project_id, title: 'A', model: 'huge' })).toBe(422);
    expect(await statusOf({ project_id })).toBe(422);
    expect(await statusOf({ project_id, title: 'A', initial_messages: many })).toBe(422);
    expect(await statusOf({ project_id, title: 'A', initial_messages: many.slice(1) })).toBe(201);
    expect(await statusOf({ project_id: 'prj_none', title: 'A' })).toBe(404);
  });

  test('lists the tasks of one project, newest first, page by page', async () => {
    const client = await start(quiet);
    const project = await client.project();
    const other = await client.project();
    const ids = [await client.task(project), await client.task(project), await client.task(project)];
    await client.task(other);
    const first = await client.call('GET', `/experimental/tasks?project_id=${project}&limit=2`);
    expect(first.body).toMatchObject({
      type: 'list',
      data: [{ id: ids[2] }, { id: ids[1] }],
      has_more: true,
      first_id: ids[2],
      last_id: ids[1],
    });
    const next = await client.call('GET', `/experimental/tasks?project_id=${project}&after_id=${ids[1]}`);
    expect(next.body).toMatchObject({ data: [{ id: ids[0] }], has_more: false });
    for (const query of ['limit=5', `project_id=${project}&limit=0`, `project_id=${project}&limit=101`]) {
      expect((await client.call('GET', `/experimental/tasks?${query}`)).status).toBe(422);
    }
  });

  test('forgets a deleted task at once, and keeps the files that the agent made', async () => {
    const client = await start({ script: (turn) => turn.result('a.txt', 'text/plain', 'kept') });
    const task = await client.newTask();
    await client.send(task, 'Go', {});
    await expect.poll(() => client.status(task)).toBe('completed');
    const deleted = await client.call('DELETE', `/experimental/tasks/${task}`);
    expect(deleted.body).toEqual({ type: 'task_deleted', id: task });
    expect((await client.call('GET', `/experimental/tasks/${task}`)).status).toBe(404);
    expect((await client.call('GET', `/experimental/tasks/${task}/messages`)).status).toBe(404);
    const [file] = client.service.files;
    expect((await client.call('GET', `/experimental/files/${file?.id}`)).body).toMatchObject({
      purpose: 'output',
    });
  });
});

describe('the border', () => {
  test('has a key that nobody knows beforehand, and answers to no other name of its machine', async () => {
    const [one, other] = [await start(quiet), await start(quiet)];
    expect(one.service.apiKey).not.toBe(other.service.apiKey);
    const { url, apiKey, port } = one.service;
    const ask = async (host: string) => {
      const headers = { host, authorization: `Bearer ${apiKey}` };
      const { statusCode, body } = await request(`${url}/projects/none`, { headers });
      await body.dump();
      return statusCode;
    };
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `two.example:${port}`, '127.0.0.1'];
    expect(await Promise.all(hosts.map(ask))).toEqual([404, 404, 421, 421]);
  });

  test('hides what belongs to another customer', async () => {
    const client = await start({ ...quiet, apiKeys: { 'key-a': 'a', 'key-b': 'b' } });
    const stranger = new TestClient(client.service, 'key-b');
    const project = await client.project();
    const task = await client.task(project);
    const file = await client.upload(project, 'a.csv', 'a\n1\n');
    expect((await stranger.call('PUT', `/projects/${project}`, { title: 'mine' })).status).toBe(404);
    expect((await stranger.call('GET', `/experimental/tasks/${task}`)).status).toBe(404);
    expect((await stranger.call('GET', `/experimental/files/${file}`)).status).toBe(404);
    expect((await stranger.call('GET', `/experimental/tasks?project_id=${project}`)).status).toBe(404);
  });

  test('answers a bad key with the status of the dialect', async () => {
    const client = await start(quiet);
    const stranger = new TestClient(client.service, 'wrong');
    expect((await stranger.call('POST', '/projects', { title: 'A' })).status).toBe(401);
    client.service.behaviour.badKeyStatus = 403;
    expect((await stranger.call('POST', '/projects', { title: 'A' })).status).toBe(403);
  });

  test.each<[ServiceBehaviour['errorBody'], unknown]>([
    ['detail', { detail: "Task 'tsk_none' not found" }],
    ['detail-list', { detail: [{ loc: [], msg: "Task 'tsk_none' not found", type: 'error_404' }] }],
    ['error-message', { error: { message: "Task 'tsk_none' not found", code: 404 } }],
    ['error', { error: "Task 'tsk_none' not found" }],
    ['message', { message: "Task 'tsk_none' not found" }],
    ['title', { type: 'about:blank', title: "Task 'tsk_none' not found", status: 404 }],
    ['text', "Task 'tsk_none' not found"],
  ])('words an error as %s', async (errorBody, body) => {
    const client = await start({ ...quiet, behaviour: { errorBody } });
    const answer = await client.call('GET', '/experimental/tasks/tsk_none/results');
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual(body);
    expect(answer.headers['x-request-id']).toMatch(/^req_/);
  });

  test('refuses bodies that are not JSON, and unknown fields where the dialect says so', async () => {
    const client = await start({ ...quiet, behaviour: { unknownFields: 'refused' } });
    const headers = { authorization: `Bearer ${client.key}` };
    const url = `${client.service.url}/projects`;
    const text = await request(url, { method: 'POST', headers, body: 'title=A' });
    expect(text.statusCode).toBe(415);
    await text.body.dump();
    const broken = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"title":',
    });
    expect(broken.statusCode).toBe(422);
    await broken.body.dump();
    expect((await client.call('POST', '/projects', { title: 'A', colour: 'red' })).status).toBe(422);
    expect((await client.call('POST', '/projects', { title: 'A' })).status).toBe(200);
  });

  test('applies faults by the name of a call and records every call', async () => {
    const client = await start(quiet);
    const project = await client.project();
    client.service.faults.add({ call: 'POST /experimental/tasks', fault: { kind: 'lost' }, times: 1 });
    await expect(client.task(project)).rejects.toThrow(/other side closed|socket hang up|ECONNRESET/);
    expect(client.service.tasks).toHaveLength(1);
    const task = client.service.tasks[0]?.id ?? '';
    client.service.faults.add({
      call: 'GET /experimental/tasks/{task_id}',
      about: task,
      fault: { kind: 'status', status: 503 },
      times: 1,
    });
    expect((await client.call('GET', '/experimental/tasks/other')).status).toBe(404);
    expect((await client.call('GET', `/experimental/tasks/${task}`)).status).toBe(503);
    expect(await client.status(task)).toBe('idle');
    expect(client.service.calls.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'POST /projects 200',
      'POST /experimental/tasks 0',
      'GET /experimental/tasks/{task_id} 404',
      'GET /experimental/tasks/{task_id} 503',
      'GET /experimental/tasks/{task_id} 200',
    ]);
  });

  test('applies a fault about a project to the calls whose bodies name it', async () => {
    const client = await start(quiet);
    const [meant, other] = [await client.project(), await client.project()];
    client.service.faults.add({ call: /./, about: meant, fault: { kind: 'status', status: 503 } });
    const begun = await client.call('POST', '/experimental/tasks', { project_id: meant });
    expect(begun.status).toBe(503);
    await client.task(other);
    expect(client.service.tasks.map(({ project }) => project.id)).toEqual([other]);
  });

  test('starts again on the port that it had', async () => {
    const client = await start(quiet);
    const { port } = client.service;
    await client.service.stop();
    const again = await start({ ...quiet, port });
    expect(again.service.url).toBe(client.service.url);
    expect((await again.call('POST', '/projects', { title: 'A' })).status).toBe(200);
  });
});
