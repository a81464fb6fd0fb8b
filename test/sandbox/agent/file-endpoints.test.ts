import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { get, put, services } from '../../support/agent-test-client.ts';

const start = services();
const quiet = { script: async () => {} };
const SMALL = { multipartThreshold: 10, minPartSize: 4, partSize: 6 };

describe('a single upload', () => {
  test('gives a file once it is finalized, and its bytes again', async () => {
    const client = await start(quiet);
    const project = await client.project();
    const { id, upload_url, ...answer } = await client.startUpload(project, 'räume.csv', 6);
    expect(answer).toMatchObject({ upload_type: 'single' });
    expect((await client.call('GET', `/experimental/files/${id}`)).status).toBe(404);
    expect((await put(upload_url, 'a\n1\n2\n')).status).toBe(200);
    const done = await client.call('POST', `/experimental/files/${id}/finalize`, {});
    expect(done.body).toMatchObject({
      id,
      type: 'file',
      filename: 'räume.csv',
      size_bytes: 6,
      purpose: 'input',
      mime_type: 'text/csv',
      project_id: project,
    });
    const content = await client.call('GET', `/experimental/files/${id}/content`);
    expect(content.body).toBe('a\n1\n2\n');
    expect(String(content.headers['content-disposition'])).toContain("UTF-8''r%C3%A4ume.csv");
  });

  test('is refused at finalize when nothing or another number of bytes arrived', async () => {
    const client = await start(quiet);
    const { id, upload_url } = await client.startUpload(await client.project(), 'a.csv', 6);
    const path = `/experimental/files/${id}/finalize`;
    expect((await client.call('POST', path, {})).status).toBe(409);
    await put(upload_url, 'short');
    expect((await client.call('POST', path, {})).status).toBe(422);
  });

  test.each([404, 409] as const)(
    'needs no finalize, which answers %i, where the dialect says so',
    async (status) => {
      const client = await start({ ...quiet, behaviour: { singleFinalize: status } });
      const { id, upload_url } = await client.startUpload(await client.project(), 'a.csv', 4);
      await put(upload_url, 'a\n1\n');
      expect((await client.call('POST', `/experimental/files/${id}/finalize`, {})).status).toBe(status);
      expect((await client.call('GET', `/experimental/files/${id}`)).status).toBe(200);
    },
  );

  test('spells its answer by the dialect', async () => {
    const client = await start({ ...quiet, behaviour: { fileId: 'file.id', uploadUrl: 'presigned_url' } });
    const body = {
      project_id: await client.project(),
      filename: 'a.csv',
      size_bytes: 1,
      mime_type: 'text/csv',
    };
    const started = await client.call('POST', '/experimental/files', body);
    const id = client.service.files[0]?.id;
    expect(started.body).toMatchObject({ file: { id }, presigned_url: expect.stringContaining('/upload/') });
    expect(started.body).not.toHaveProperty('id');
  });

  test('refuses sizes and types that are not taken', async () => {
    const client = await start({
      ...quiet,
      behaviour: { maxFileBytes: 10, refusedTypes: ['.exe', 'text/html'] },
    });
    const project_id = await client.project();
    const statusOf = async (filename: string, size_bytes: number, mime_type: string): Promise<number> => {
      const body = { project_id, filename, size_bytes, mime_type };
      return (await client.call('POST', '/experimental/files', body)).status;
    };
    expect(await statusOf('a.csv', 11, 'text/csv')).toBe(413);
    expect(await statusOf('a.exe', 1, 'application/octet-stream')).toBe(415);
    expect(await statusOf('a.html', 1, 'text/html')).toBe(415);
    expect(await statusOf('../a.csv', 1, 'text/csv')).toBe(422);
    expect(await statusOf('a.csv', -1, 'text/csv')).toBe(422);
  });
});

describe('a signed link', () => {
  test('refuses a credential, a changed signature and, once it is over, everybody', async () => {
    let now = Date.now();
    const client = await start({ ...quiet, now: () => now, behaviour: { uploadLinkMs: 1000 } });
    const { upload_url } = await client.startUpload(await client.project(), 'a.csv', 4);
    const credential = { authorization: `Bearer ${client.key}` };
    expect((await put(upload_url, 'a\n1\n', credential)).status).toBe(400);
    expect((await put(`${upload_url}0`, 'a\n1\n')).status).toBe(403);
    expect((await get(upload_url)).status).toBe(403);
    now += 999;
    expect((await put(upload_url, 'a\n1\n')).status).toBe(200);
    now += 1;
    expect((await put(upload_url, 'a\n1\n')).status).toBe(403);
  });

  test('wants the headers that were named with it', async () => {
    const client = await start({ ...quiet, behaviour: { uploadHeaders: { 'x-upload-check': 'yes' } } });
    const { upload_url, headers } = await client.startUpload(await client.project(), 'a.csv', 4);
    expect(headers).toEqual({ 'x-upload-check': 'yes' });
    expect((await put(upload_url, 'a\n1\n')).status).toBe(403);
    expect((await put(upload_url, 'a\n1\n', { 'x-upload-check': 'yes' })).status).toBe(200);
  });
});

describe('an upload in parts', () => {
  test('puts the parts together in the order of their numbers', async () => {
    const client = await start({ ...quiet, behaviour: SMALL });
    const { id, upload_id, part_size } = await client.startUpload(await client.project(), 'a.csv', 14);
    expect(part_size).toBe(6);
    const urls = await client.partLinks(id, upload_id, [1, 2, 3]);
    const etags = [
      await put(urls['3'], '56'),
      await put(urls['1'], 'ABCDEF'),
      await put(urls['2'], '012345'),
    ];
    const [third, first, second] = etags.map(({ etag }) => etag);
    expect(first).toMatch(/^"[0-9a-f]{32}"$/);
    const parts = [first, second, third].map((etag, index) => ({ part_number: index + 1, etag }));
    const done = await client.call('POST', `/experimental/files/${id}/finalize`, { upload_id, parts });
    expect(done.body).toMatchObject({ id, size_bytes: 14 });
    const [file] = client.service.files;
    expect(await file?.sha256()).toBe(createHash('sha256').update('ABCDEF01234556').digest('hex'));
    const again = await client.call('POST', `/experimental/files/${id}/finalize`, { upload_id, parts });
    expect(again.status).toBe(409);
  });

  test('refuses parts that are missing, unsorted, too small or named by another etag', async () => {
    const client = await start({ ...quiet, behaviour: SMALL });
    const { id, upload_id } = await client.startUpload(await client.project(), 'a.csv', 12);
    const urls = await client.partLinks(id, upload_id, [1, 2, 3]);
    const one = { part_number: 1, etag: (await put(urls['1'], '123456')).etag };
    const two = { part_number: 2, etag: (await put(urls['2'], '123')).etag };
    const three = { part_number: 3, etag: (await put(urls['3'], '456')).etag };
    const statusOf = async (parts: object[], given = upload_id): Promise<number> => {
      const path = `/experimental/files/${id}/finalize`;
      return (await client.call('POST', path, { upload_id: given, parts })).status;
    };
    expect(await statusOf([one, two, three])).toBe(422);
    expect(await statusOf([two, one])).toBe(422);
    expect(await statusOf([one])).toBe(422);
    expect(await statusOf([{ ...one, etag: one.etag.replaceAll('"', '') }])).toBe(422);
    expect(await statusOf([one, { part_number: 9, etag: 'x' }])).toBe(422);
    expect(await statusOf([one], 'another')).toBe(422);
    await put(urls['2'], '123456');
    const etag = (await put(urls['2'], '654321')).etag;
    expect(await statusOf([one, { part_number: 2, etag }])).toBe(200);
  });

  test('asks no client for part URLs of a single upload, nor of another upload', async () => {
    const client = await start({ ...quiet, behaviour: SMALL });
    const project = await client.project();
    const single = await client.startUpload(project, 'a.csv', 4);
    const multi = await client.startUpload(project, 'b.csv', 40);
    const statusOf = async (id: string, body: object): Promise<number> => {
      return (await client.call('POST', `/experimental/files/${id}/parts`, body)).status;
    };
    expect(await statusOf(single.id, { upload_id: 'x', part_numbers: [1] })).toBe(409);
    expect(await statusOf(multi.id, { upload_id: 'x', part_numbers: [1] })).toBe(422);
    expect(await statusOf(multi.id, { upload_id: multi.upload_id, part_numbers: [0] })).toBe(422);
    expect(await statusOf(multi.id, { upload_id: multi.upload_id, part_numbers: [] })).toBe(422);
  });

  test.each([
    ['empty-object', 200, {}],
    ['no-content', 204, ''],
  ] as const)(
    'answers finalize with %s and bare etags where the dialect says so',
    async (answer, status, body) => {
      const client = await start({ ...quiet, behaviour: { ...SMALL, finalizeAnswer: answer, etag: 'bare' } });
      const { id, upload_id } = await client.startUpload(await client.project(), 'a.csv', 12);
      const urls = await client.partLinks(id, upload_id, [1]);
      const { etag } = await put(urls['1'], '123456789012');
      expect(etag).toMatch(/^[0-9a-f]{32}$/);
      const parts = [{ part_number: 1, etag }];
      const done = await client.call('POST', `/experimental/files/${id}/finalize`, { upload_id, parts });
      expect(done).toMatchObject({ status, body });
    },
  );
});

describe('downloads', () => {
  test('gives content as a redirect or as a link where the dialect says so', async () => {
    const client = await start({ ...quiet, behaviour: { contentDownload: 'redirect' } });
    const file = await client.upload(await client.project(), 'a.csv', 'a\n1\n');
    const moved = await client.call('GET', `/experimental/files/${file}/content`);
    expect(moved.status).toBe(302);
    expect((await get(String(moved.headers.location))).bytes.toString()).toBe('a\n1\n');
    client.service.behaviour.contentDownload = 'json';
    const link = await client.call('GET', `/experimental/files/${file}/content`);
    expect(link.body).toMatchObject({ download_url: expect.stringContaining('/object/') });
  });

  test('lists results with links that expire, or without links, page by page', async () => {
    let now = Date.now();
    const client = await start({
      now: () => now,
      script: async (turn) => {
        for (const name of ['a.txt', 'b.txt', 'c.txt']) await turn.result(name, 'text/plain', name);
      },
    });
    const task = await client.newTask();
    await client.send(task, 'Go');
    await expect.poll(() => client.status(task)).toBe('completed');
    const first = await client.results(task, '?limit=2');
    expect(first).toMatchObject({ has_more: true, data: [{ name: 'a.txt' }, { name: 'b.txt' }] });
    const { data } = await client.results(task, `?after_id=${first.data[1]?.result_id}`);
    expect(data.map(({ name }) => name)).toEqual(['c.txt']);
    const link = first.data[0]?.download_url;
    const file = await get(link);
    expect(file).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/plain', 'content-length': '5' },
    });
    expect((await get(link, { authorization: 'Bearer x' })).status).toBe(400);
    now += 15 * 60_000;
    expect((await get(link)).status).toBe(403);
    const bare = await client.results(task, '?with_urls=false');
    expect(bare.data[0]).not.toHaveProperty('download_url');
    const path = `/experimental/tasks/${task}/results`;
    expect((await client.call('GET', `${path}?limit=101`)).status).toBe(422);
    expect((await client.call('GET', `${path}?with_urls=maybe`)).status).toBe(422);
    expect((await client.call('GET', '/experimental/tasks/tsk_none/results')).status).toBe(404);
  });

  test('shows what was written while the task runs only when it reconciles', async () => {
    const client = await start({
      script: async (turn) => {
        await turn.result('early.txt', 'text/plain', 'x');
        await turn.ask('More?');
      },
    });
    const task = await client.newTask();
    await client.send(task, 'Go');
    await expect.poll(() => client.service.tasks[0]?.results.length).toBe(1);
    expect((await client.results(task, '?reconcile=false')).data).toHaveLength(0);
    expect((await client.results(task)).data).toHaveLength(1);
    expect((await client.results(task, '?reconcile=false')).data).toHaveLength(1);
  });
});
