import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { AgentScript } from '../../../sandbox/agent/agent-script.ts';
import { type S3, startS3 } from '../../../sandbox/agent/s3-server.ts';
import { openS3Storage } from '../../../sandbox/agent/s3-storage.ts';
import { InvalidParts } from '../../../sandbox/agent/storage.ts';
import { get, put, reached, services } from '../../support/agent-test-client.ts';

const MIB = 1024 * 1024;
const start = services();
let folder: string;
let s3: S3;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 's3-test-'));
  s3 = await startS3({ folder });
});

afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}

const readAll: AgentScript = async (turn) => {
  for (const file of turn.files) {
    let size = 0;
    for await (const chunk of await file.open()) size += chunk.length;
    turn.write(`${file.name}: ${size}`);
  }
  await turn.result('bericht ä.txt', 'text/plain', 'done');
};

describe('a service that keeps its files in S3', () => {
  test('assembles a multipart upload from presigned parts, byte for byte', async () => {
    const client = await start({ storage: { s3 } });
    const bytes = randomBytes(11 * MIB);
    const { id, upload_id } = await client.startUpload(await client.project(), 'big.csv', bytes.length);
    const urls = await client.partLinks(id, upload_id, [1, 2, 3]);
    expect(urls['1']).toContain(s3.endpoint);
    const pieces = [bytes.subarray(0, 5 * MIB), bytes.subarray(5 * MIB, 10 * MIB), bytes.subarray(10 * MIB)];
    const parts = await Promise.all(
      pieces.map(async (piece, index) => {
        const { status, etag } = await put(urls[String(index + 1)], piece);
        expect(status).toBe(200);
        return { part_number: index + 1, etag };
      }),
    );
    const path = `/experimental/files/${id}/finalize`;
    const wrong = parts.map((part) => ({ ...part, etag: '"0123"' }));
    expect((await client.call('POST', path, { upload_id, parts: wrong })).status).toBe(422);
    const missing = [...parts, { part_number: 4, etag: '"0123"' }];
    expect((await client.call('POST', path, { upload_id, parts: missing })).status).toBe(422);
    const done = await client.call('POST', path, { upload_id, parts });
    expect(done).toMatchObject({ status: 200, body: { id, size_bytes: bytes.length } });
    expect(await client.service.files[0]?.sha256()).toBe(sha256(bytes));
  });

  test('refuses parts that are out of order, as S3 does', async () => {
    const storage = openS3Storage(s3);
    const id = await storage.startMultipart('ordered');
    const parts = await Promise.all(
      [1, 2].map(async (number) => {
        const link = await storage.partLink('ordered', id, number, { lifeMs: 60_000 });
        const { etag } = await put(link, Buffer.alloc(5 * MIB, number));
        return { number, etag: etag ?? '' };
      }),
    );
    await expect(storage.finish('ordered', id, parts.toReversed(), 10 * MIB)).rejects.toThrow(InvalidParts);
    await storage.finish('ordered', id, parts, 10 * MIB);
    expect(await storage.size('ordered')).toBe(10 * MIB);
    await storage.stop();
  });

  test('refuses parts below 5 MiB, as S3 does', async () => {
    const client = await start({ storage: { s3 } });
    const { id, upload_id } = await client.startUpload(await client.project(), 'big.csv', 9 * MIB);
    const urls = await client.partLinks(id, upload_id, [1, 2]);
    const first = await put(urls['1'], Buffer.alloc(4 * MIB));
    const second = await put(urls['2'], Buffer.alloc(5 * MIB));
    const parts = [first, second].map(({ etag }, index) => ({ part_number: index + 1, etag }));
    const answer = await client.call('POST', `/experimental/files/${id}/finalize`, { upload_id, parts });
    expect(answer.status).toBe(422);
  });

  test('takes single uploads and gives results over presigned links that bear no credential', async () => {
    const client = await start({ storage: { s3 }, script: readAll });
    const project = await client.project();
    const file = await client.upload(project, 'a.csv', 'a\n1\n');
    const task = await client.task(project);
    const { assistant_message } = await client.send(task, 'Read', { file_ids: [file] });
    await reached(client.service, task, 'completed');
    expect(await client.message(task, assistant_message?.id ?? '')).toMatchObject({
      content: [{ text: 'a.csv: 4' }],
    });
    const { data } = await client.results(task);
    const link = data[0]?.download_url;
    const result = await get(link);
    expect(result).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain' } });
    expect(result.bytes.toString()).toBe('done');
    expect(String(result.headers['content-disposition'])).toContain('filename="bericht _.txt"');
    expect((await get(link, { authorization: `Bearer ${client.key}` })).status).toBe(400);
    expect((await get(link?.split('?')[0])).status).toBe(403);
  });

  test('signs the headers that uploads must carry', async () => {
    const headers = { 'x-amz-meta-check': 'yes' };
    const client = await start({ storage: { s3 }, behaviour: { uploadHeaders: headers } });
    const { upload_url } = await client.startUpload(await client.project(), 'a.csv', 4);
    expect((await put(upload_url, 'a\n1\n')).status).toBe(403);
    expect((await put(upload_url, 'a\n1\n', headers)).status).toBe(200);
  });

  test('lets part links expire with 403', async () => {
    const client = await start({ storage: { s3 }, behaviour: { uploadLinkMs: 1000 } });
    const { id, upload_id } = await client.startUpload(await client.project(), 'a.csv', 9 * MIB);
    const urls = await client.partLinks(id, upload_id, [1]);
    await expect
      .poll(async () => (await put(urls['1'], 'x')).status, { timeout: 5000, interval: 300 })
      .toBe(403);
  });
});
