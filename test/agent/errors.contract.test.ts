import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type AgentService, startAgentService } from '../../sandbox/agent/agent-service.ts';
import { AgentClient } from '../../src/agent/agent-client.ts';
import { AgentRejectedError } from '../../src/agent/errors.ts';
import { createLogger } from '../../src/operate/logger.ts';

let service: AgentService;
let client: AgentClient;
let projectId: string;
let taskId: string;
const retry = { baseDelayMs: 1, maxDelayMs: 5 };

beforeAll(async () => {
  service = await startAgentService({
    script: async (turn) => {
      if (turn.text === 'fail') turn.fail('no luck');
      await turn.sleep(600_000);
    },
  });
  client = new AgentClient({
    baseUrl: service.url,
    allowedHosts: ['127.0.0.1'],
    apiKey: service.apiKey,
    retry,
  });
  projectId = (await client.createProject({ title: 'P' })).id;
});

beforeEach(async () => {
  taskId = (await client.startTask({ projectId, title: 'T' })).id;
});

afterAll(async () => {
  await client.close();
  await service.stop();
});

describe('the documented errors', () => {
  test('an unknown task', async () => {
    const unknown = { code: 'not_found', status: 404, outcome: 'refused' };
    await expect(client.listResults('tsk_unknown')).rejects.toMatchObject(unknown);
    await expect(client.getTask('tsk_unknown')).rejects.toMatchObject(unknown);
    await expect(client.getMessage(taskId, 'msg_unknown')).rejects.toMatchObject(unknown);
    await expect(client.getFile('file_unknown')).rejects.toMatchObject(unknown);
    await expect(client.updateProject('prj_unknown', { title: 'x' })).rejects.toMatchObject(unknown);
  });

  test('an unknown skill', async () => {
    const sent = client.sendMessage(taskId, { content: 'x', skill: 'juggling' });
    await expect(sent).rejects.toMatchObject({
      code: 'not_found',
      message: expect.not.stringContaining('juggling'),
      requestId: expect.stringMatching(/./),
    });
  });

  test('a rejection that repeats the message shows it in the thread but in no log', async () => {
    const body = { errors: [{ input: 'the secret of my sheep' }] };
    const call = 'POST /experimental/tasks/{task_id}/messages';
    service.faults.add({ call, fault: { kind: 'status', status: 422, body }, times: 1 });
    const refused: unknown = await client.sendMessage(taskId, { content: 'x' }).catch((error) => error);
    if (!(refused instanceof AgentRejectedError)) throw new Error('It was not refused.');
    expect(refused.reason).toContain('the secret of my sheep');
    const lines: string[] = [];
    const destination = { write: (line: string) => lines.push(line) };
    createLogger({ level: 'info', destination }).info({ err: refused }, 'refused');
    const logged = lines.join('');
    expect(logged).toContain('422');
    expect(logged).not.toContain('sheep');
  });

  test.each([
    [408, { code: 'unavailable', outcome: 'unknown' }],
    [425, { code: 'unavailable', outcome: 'refused' }],
    [410, { code: 'not_found', outcome: 'refused' }],
  ])('%d to a message', async (status, error) => {
    const call = 'POST /experimental/tasks/{task_id}/messages';
    service.faults.add({ call, fault: { kind: 'status', status }, times: 1 });
    await expect(client.sendMessage(taskId, { content: 'x' })).rejects.toMatchObject({ status, ...error });
  });

  test('an unknown model', async () => {
    const started = client.startTask({ projectId, title: 'T', model: 'huge' });
    await expect(started).rejects.toMatchObject({ code: 'rejected', status: 422, outcome: 'refused' });
  });

  test('a failed task has the error text in its last message', async () => {
    const { assistantMessage } = await client.sendMessage(taskId, { content: 'fail' });
    await expect.poll(async () => (await client.getTask(taskId)).status, { interval: 10 }).toBe('failed');
    const reply = await client.getMessage(taskId, assistantMessage?.id ?? '');
    expect(reply).toMatchObject({ status: 'failed', stopReason: 'error', error: 'no luck' });
  });

  test('a limit above the maximum of a list', async () => {
    await expect(client.listTasks(projectId, { limit: 101 })).rejects.toBeInstanceOf(AgentRejectedError);
    await expect(client.listMessages(taskId, { limit: 501 })).rejects.toBeInstanceOf(AgentRejectedError);
  });
});

describe('the errors that the document leaves open', () => {
  test.each([401, 403] as const)('a bad key as %d', async (status) => {
    service.behaviour.badKeyStatus = status;
    const stranger = new AgentClient({
      baseUrl: service.url,
      allowedHosts: ['127.0.0.1'],
      apiKey: 'wrong',
      retry,
    });
    const before = service.calls.length;
    const error = await stranger.getTask(taskId).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'bad_key', status, outcome: 'refused', attempts: 1 });
    // A 403 may be about the task, so the key is tried with another call.
    await expect.poll(() => service.calls.length).toBe(before + (status === 403 ? 2 : 1));
    await stranger.close();
  });

  test('a 403 for one task under a valid key', async () => {
    service.faults.add({ call: /tasks/, about: taskId, fault: { kind: 'status', status: 403 } });
    const refusals = await Promise.allSettled([
      client.getTask(taskId),
      client.sendMessage(taskId, { content: 'x' }),
    ]);
    for (const refusal of refusals) expect(refusal).toMatchObject({ reason: { kind: 'forbidden' } });
    service.faults.clear();
    expect(await client.getTask(taskId)).toMatchObject({ id: taskId });
  });

  test.each(['detail', 'detail-list', 'error-message', 'error', 'message', 'title', 'text'] as const)(
    'the words of a body like "%s"',
    async (shape) => {
      service.behaviour.errorBody = shape;
      // Only a refusal is shown to people; logs get our own sentence.
      const missing = { code: 'not_found', message: expect.not.stringContaining('tsk_x') };
      await expect(client.getTask('tsk_x')).rejects.toMatchObject(missing);
      const refused = await client
        .startTask({ projectId, title: 'T', model: 'huge' })
        .catch((reason: unknown) => reason);
      expect(refused).toMatchObject({ reason: expect.stringMatching(/\w/) });
      service.behaviour.errorBody = 'detail';
    },
  );

  test('a busy task', async () => {
    await client.sendMessage(taskId, { content: 'work' });
    const second = client.sendMessage(taskId, { content: 'more' });
    await expect(second).rejects.toMatchObject({ code: 'busy', status: 409, outcome: 'refused' });
  });

  test.each([
    [409, 'busy'],
    [422, 'rejected'],
  ] as const)('a message to a cancelled task as %d', async (status, code) => {
    service.behaviour.messageToStopped = status;
    await client.sendMessage(taskId, { content: 'work' });
    await client.cancelTask(taskId, { force: true });
    const sent = client.sendMessage(taskId, { content: 'more' });
    await expect(sent).rejects.toMatchObject({ code, outcome: 'refused' });
    service.behaviour.messageToStopped = 'accepted';
  });

  test('a rate limit, which reads wait for and sends report', async () => {
    const fault = { kind: 'status', status: 429, headers: { 'retry-after': '1' } } as const;
    service.faults.add({ call: /messages$/, fault, times: 1 });
    const sent = client.sendMessage(taskId, { content: 'x' });
    const told = { code: 'rate_limited', retryAfterMs: expect.any(Number), attempts: 1 };
    await expect(sent).rejects.toMatchObject(told);
    service.faults.add({ call: /tasks/, fault, times: 1 });
    expect(await client.getTask(taskId)).toMatchObject({ status: 'idle' });
  });

  test('a file that is too large', async () => {
    service.behaviour.maxFileBytes = 10;
    const file = { projectId, filename: 'f', sizeBytes: 11, mimeType: 'text/plain' };
    await expect(client.startUpload(file)).rejects.toMatchObject({
      code: 'rejected',
      status: 413,
      reason: expect.stringContaining('at most 10 bytes'),
    });
    service.behaviour.maxFileBytes = null;
  });

  test('a send with a lost response is found among the messages', async () => {
    const lose = {
      call: 'POST /experimental/tasks/{task_id}/messages',
      fault: { kind: 'lost' },
      times: 1,
    } as const;
    service.faults.add(lose);
    const sent = client.sendMessage(taskId, { content: 'once' });
    await expect(sent).rejects.toMatchObject({ code: 'unavailable', outcome: 'unknown' });
    const found = (await client.listMessages(taskId)).items;
    expect(found.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(found[1]?.input?.userMessageId).toBe(found[0]?.id);
  });
});
