import { afterEach, describe, expect, test } from 'vitest';
import { type AgentService, startAgentService } from '../../sandbox/agent/agent-service.ts';
import type { ServiceBehaviour } from '../../sandbox/agent/service-behaviour.ts';
import { AgentClient } from '../../src/agent/agent-client.ts';
import type { AgentClientOptions } from '../../src/agent/client-options.ts';
import { DEFAULT_SERVICE_OPTIONS, serviceOptionsSchema } from '../../src/agent/service-options.ts';
import { uploadFile } from '../../src/agent/upload-file.ts';

const open: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

interface Pair {
  readonly service: AgentService;
  readonly client: AgentClient;
  readonly projectId: string;
}

async function pair(
  theirs: Partial<ServiceBehaviour>,
  options: Partial<AgentClientOptions> = {},
): Promise<Pair> {
  const service = await startAgentService({
    behaviour: theirs,
    script: async (turn) => {
      for (let file = 0; file < 5; file += 1) await turn.result(`${file}.txt`, 'text/plain', 'x');
      turn.write('done');
    },
  });
  open.push({ close: () => service.stop() });
  const client = new AgentClient({
    baseUrl: service.url,
    allowedHosts: ['127.0.0.1'],
    apiKey: service.apiKey,
    ...options,
  });
  open.push(client);
  return { service, client, projectId: (await client.createProject({ title: 'P' })).id };
}

function upload({ client, projectId }: Pair, text: string, mimeType = 'text/plain') {
  const bytes = Buffer.from(text);
  return uploadFile(client, {
    projectId,
    filename: 'f',
    sizeBytes: bytes.length,
    mimeType,
    open: async (offset) => once(bytes.subarray(offset)),
  });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function textOf({ body }: { body: AsyncIterable<unknown> }): Promise<string> {
  let text = '';
  for await (const chunk of body) text += String(chunk);
  return text;
}

describe('an upload in one piece', () => {
  test.each<Partial<ServiceBehaviour>>([
    { fileId: 'id', uploadUrl: 'upload_url' },
    { fileId: 'file_id', uploadUrl: 'url' },
    { fileId: 'file.id', uploadUrl: 'presigned_url' },
    { singleFinalize: 'needed', finalizeAnswer: 'empty-object' },
    { singleFinalize: 'needed', finalizeAnswer: 'no-content' },
    { singleFinalize: 404 },
    { singleFinalize: 409 },
    { uploadHeaders: { 'X-Needed': 'yes' } },
  ])('succeeds with a service like %j', async (theirs) => {
    const both = await pair(theirs);
    const file = await upload(both, 'hello');
    expect(await textOf(await both.client.openFileContent(file.id))).toBe('hello');
  });

  test('skips finalize if AGENT_DIALECT says so', async () => {
    const dialect = { ...DEFAULT_SERVICE_OPTIONS, finalizeSingle: 'skip' as const };
    const both = await pair({ singleFinalize: 404 }, { serviceOptions: dialect });
    expect(await upload(both, 'hello')).toMatchObject({ sizeBytes: 5 });
    expect(both.service.calls.map(({ name }) => name)).not.toContainEqual(
      expect.stringContaining('finalize'),
    );
  });

  test('sends the purpose only if it is set', async () => {
    const body = async (options: Partial<AgentClientOptions>) => {
      const both = await pair({ unknownFields: 'refused' }, options);
      await upload(both, 'x');
      return both.service.calls.find(({ name }) => name === 'POST /experimental/files')?.body;
    };
    expect(await body({})).not.toHaveProperty('purpose');
    const dialect = { ...DEFAULT_SERVICE_OPTIONS, uploadPurpose: 'input' };
    expect(await body({ serviceOptions: dialect })).toMatchObject({ purpose: 'input' });
  });
});

describe("a file's content", () => {
  test.each(['bytes', 'redirect', 'json'] as const)('is read as %s', async (contentDownload) => {
    const both = await pair({ contentDownload });
    const file = await upload(both, 'hello');
    expect(await textOf(await both.client.openFileContent(file.id))).toBe('hello');
  });

  test.each(['bytes', 'json'] as const)('may be left unread (%s)', async (contentDownload) => {
    const both = await pair({ contentDownload });
    const file = await upload(both, 'x'.repeat(1_000_000));
    const { body } = await both.client.openFileContent(file.id);
    body.destroy();
    expect(await both.client.getFile(file.id)).toMatchObject({ sizeBytes: 1_000_000 });
  });

  const expired = [400, 401, 403, 410] as const;
  test.each(expired)('is requested once more where its link answers %d', async (expiredLinkStatus) => {
    for (const contentDownload of ['redirect', 'json'] as const) {
      const both = await pair({ contentDownload, expiredLinkStatus, downloadLinkMs: 0 });
      const file = await upload(both, 'hello');
      await expect(both.client.openFileContent(file.id)).rejects.toMatchObject({ status: expiredLinkStatus });
      const asked = () => both.service.calls.filter(({ name }) => name.endsWith('/content'));
      expect(asked()).toHaveLength(2);
      const fault = { kind: 'status', status: expiredLinkStatus } as const;
      both.service.faults.add({ call: 'GET download', fault, times: 1 });
      both.service.behaviour.downloadLinkMs = 60_000;
      expect(await textOf(await both.client.openFileContent(file.id))).toBe('hello');
      expect(asked()).toHaveLength(4);
    }
  });

  test('is not followed if it only looks like a link', async () => {
    const both = await pair({ contentDownload: 'bytes' });
    const text = '{"download_url":"http://169.254.169.254/secret"}';
    const file = await upload(both, text, 'application/json');
    expect(await textOf(await both.client.openFileContent(file.id))).toBe(text);
    const large = `{"url":"${'x'.repeat(200_000)}"}`;
    const other = await upload(both, large, 'application/json');
    expect(await textOf(await both.client.openFileContent(other.id))).toBe(large);
  });
});

describe('lists', () => {
  test.each([true, false])(
    'of results end and contain each result once (cursors: %s)',
    async (listCursors) => {
      const { client, projectId } = await pair({ listCursors });
      const task = await client.startTask({ projectId, title: 'T' });
      await client.sendMessage(task.id, { content: 'x' });
      await expect
        .poll(async () => (await client.getTask(task.id)).status, { interval: 5 })
        .toBe('completed');
      expect((await client.allResults(task.id)).results.map(({ name }) => name)).toHaveLength(5);
    },
  );

  test.each(['forward', 'backward'] as const)(
    'of messages are walked %s with an inclusive or exclusive cursor',
    async (way) => {
      const dialect = { ...DEFAULT_SERVICE_OPTIONS, messagesAfter: way };
      const both = await pair({ messageCursors: 'inclusive' }, { serviceOptions: dialect });
      const task = await both.client.startTask({ projectId: both.projectId, title: 'T' });
      for (const content of ['1', '2', '3']) {
        await both.client.sendMessage(task.id, { content });
        await expect
          .poll(async () => (await both.client.getTask(task.id)).status, { interval: 5 })
          .toBe('completed');
      }
      const ids = (await both.client.listMessages(task.id)).items.map(({ id }) => id);
      expect(ids).toHaveLength(6);
      for (const reading of ['inclusive', 'exclusive'] as const) {
        both.service.behaviour.messageCursors = reading;
        const walked: string[] = [];
        for await (const { id } of both.client.messagesAfter(task.id, ids[0] ?? '', { limit: 4 }))
          walked.push(id);
        expect(walked).toEqual(ids.slice(1));
      }
    },
  );

  test('of tasks name the project by the parameter in AGENT_DIALECT', async () => {
    const dialect = { ...DEFAULT_SERVICE_OPTIONS, listTasksProjectParam: 'project' };
    const { client, projectId } = await pair({ projectParameter: 'project' }, { serviceOptions: dialect });
    await client.startTask({ projectId, title: 'T' });
    expect((await client.listTasks(projectId)).items).toHaveLength(1);
  });
});

describe('a task and its messages', () => {
  test('start with documented fields only, unless AGENT_DIALECT adds others', async () => {
    const dialect = serviceOptionsSchema.parse({
      noFallbackField: 'disable_fallback',
      autoModeField: 'auto_mode',
    });
    const { service, client, projectId } = await pair(
      { unknownFields: 'refused' },
      { serviceOptions: dialect },
    );
    await client.startTask({ projectId, title: 'T' });
    const task = await client.startTask({ projectId, title: 'T', noFallback: true, autoMode: true });
    const starts = service.calls.filter(({ name }) => name === 'POST /experimental/tasks');
    expect(starts.map(({ body }) => body)).toEqual([
      { project_id: projectId, title: 'T' },
      { project_id: projectId, title: 'T', disable_fallback: true, auto_mode: true },
    ]);
    await client.sendMessage(task.id, { content: 'x' });
    expect(service.calls.findLast(({ name }) => name.endsWith('/messages'))?.body).toEqual({
      content: 'x',
    });
  });

  test.each([
    ['at-once', ['pending', 'streaming']],
    ['at-once-without-reply', [undefined]],
    ['held', ['completed']],
  ] as const)('are sent to a service that answers "%s"', async (send, statuses) => {
    const { client, projectId } = await pair({ send });
    const task = await client.startTask({ projectId, title: 'T' });
    const result = await client.sendMessage(task.id, { content: 'x' });
    expect(result.userMessage?.role).toBe('user');
    expect(statuses).toContain(result.assistantMessage?.status);
  });

  test.each([
    ['full', []],
    ['null-file-ids', null],
  ] as const)('say what they answer with input "%s"', async (input, fileIds) => {
    const { client, projectId } = await pair({ input });
    const task = await client.startTask({ projectId, title: 'T' });
    const { userMessage, assistantMessage } = await client.sendMessage(task.id, { content: 'x' });
    expect(assistantMessage?.input).toEqual({ userMessageId: userMessage?.id, fileIds });
  });

  test('may not say which message they answer', async () => {
    const { client, projectId } = await pair({ input: 'null' });
    const task = await client.startTask({ projectId, title: 'T' });
    expect((await client.sendMessage(task.id, { content: 'x' })).assistantMessage?.input).toBeNull();
  });
});
