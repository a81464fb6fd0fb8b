import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type AgentService, startAgentService } from '../../sandbox/agent/agent-service.ts';
import { type S3, startS3 } from '../../sandbox/agent/s3-server.ts';
import { AgentClient } from '../../src/agent/agent-client.ts';
import type { AgentUploadRequest, ResumableUpload } from '../../src/agent/request-bodies.ts';
import { DEFAULT_SERVICE_OPTIONS } from '../../src/agent/service-options.ts';
import { uploadFile } from '../../src/agent/upload-file.ts';
import { UploadMemory } from '../../src/agent/upload-parts.ts';

const mebibyte = 1024 * 1024;
/** Memory for a single part at a time. */
const oneByOne = () => new UploadMemory(1);
let folder: string;
let s3: S3;
let service: AgentService;
let client: AgentClient;
let projectId: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'agent-upload-'));
  s3 = await startS3({ folder });
});

afterEach(async () => {
  await client.close();
  await service.stop();
});

afterAll(async () => {
  await s3.stop();
  await rm(folder, { recursive: true, force: true });
});

async function start(
  options: Parameters<typeof startAgentService>[0],
  uploadMemory?: UploadMemory,
): Promise<void> {
  service = await startAgentService(options);
  client = new AgentClient({
    ...(uploadMemory && { uploadMemory }),
    baseUrl: service.url,
    allowedHosts: ['127.0.0.1'],
    apiKey: service.apiKey,
    serviceOptions: { ...DEFAULT_SERVICE_OPTIONS, leastPartBytes: service.behaviour.minPartSize },
    retry: { baseDelayMs: 1, maxDelayMs: 5 },
  });
  projectId = (await client.createProject({ title: 'P' })).id;
}

async function* chunked(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 64 * 1024) yield bytes.subarray(at, at + 64 * 1024);
}

function request(bytes: Buffer): AgentUploadRequest {
  return {
    projectId,
    filename: 'data.bin',
    sizeBytes: bytes.length,
    mimeType: 'application/octet-stream',
    open: async (offset) => chunked(bytes.subarray(offset)),
  };
}

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('an upload to S3', () => {
  test.each([
    ['the size of a part given', true, 2],
    ['the size of a part left to us', false, 1],
  ])('in parts arrives whole, with %s', async (_, givesPartSize, count) => {
    const dialect = { givesPartSize, partSize: 6 * mebibyte, multipartThreshold: mebibyte };
    await start({ storage: { s3 }, behaviour: dialect });
    const bytes = randomBytes(6 * mebibyte + 17);
    const told: number[] = [];
    const file = await uploadFile(client, {
      ...request(bytes),
      onPart: ({ number }) => {
        told.push(number);
      },
    });
    expect(file.sizeBytes).toBe(bytes.length);
    expect(await service.files[0]?.sha256()).toBe(sha256(bytes));
    expect(told).toHaveLength(count);
    const content = await client.openFileContent(file.id);
    expect(sha256(Buffer.concat(await content.body.toArray()))).toBe(sha256(bytes));
  });

  test.each(['bytes', 'redirect', 'json'] as const)(
    'in one piece arrives whole, read as %s',
    async (contentDownload) => {
      await start({
        storage: { s3 },
        behaviour: { contentDownload, uploadHeaders: { 'x-amz-meta-kind': 'input' } },
      });
      const bytes = randomBytes(300_000);
      const file = await uploadFile(client, request(bytes));
      const { body } = await client.openFileContent(file.id);
      expect(sha256(Buffer.concat(await body.toArray()))).toBe(sha256(bytes));
    },
  );

  test('resumes where another process stopped', async () => {
    const behaviour = { partSize: 5 * mebibyte, multipartThreshold: mebibyte };
    await start({ storage: { s3 }, behaviour }, oneByOne());
    const bytes = randomBytes(5 * mebibyte + 17);
    const stop = new AbortController();
    let record: ResumableUpload | undefined;
    const first = uploadFile(client, {
      ...request(bytes),
      signal: stop.signal,
      onStart: (begun) => {
        record = begun;
      },
      onPart: (part) => {
        record = record && { ...record, parts: [part] };
        stop.abort();
      },
    });
    await expect(first).rejects.toMatchObject({ code: 'aborted' });
    await uploadFile(client, { ...request(bytes), resume: record });
    expect(await service.files[0]?.sha256()).toBe(sha256(bytes));
    expect(service.files).toHaveLength(1);
  });
});

describe('an upload to a storage with links of its own', () => {
  test.each(['quoted', 'bare'] as const)('gives back ETags as they came: %s', async (etag) => {
    await start({ behaviour: { etag, partSize: 20, minPartSize: 1, multipartThreshold: 10 } });
    const bytes = randomBytes(101);
    await uploadFile(client, request(bytes));
    expect(await service.files[0]?.sha256()).toBe(sha256(bytes));
  });

  test('requests expired links again', async () => {
    let clock = Date.now();
    const dialect = { partSize: 20, minPartSize: 1, multipartThreshold: 10, uploadLinkMs: 1000 };
    await start({ now: () => clock, behaviour: dialect }, oneByOne());
    const bytes = randomBytes(101);
    await uploadFile(client, {
      ...request(bytes),
      onPart: ({ number }) => {
        if (number === 1) clock += 5000;
      },
    });
    expect(await service.files[0]?.sha256()).toBe(sha256(bytes));
    const asked = service.calls.filter(({ name }) => name.endsWith('/parts'));
    expect(asked.length).toBeGreaterThan(1);
  });

  test('survives lost responses to parts and to finalize', async () => {
    await start({ behaviour: { partSize: 20, minPartSize: 1, multipartThreshold: 10 } });
    for (const call of ['PUT part', 'POST /experimental/files/{file_id}/finalize']) {
      service.faults.add({ call, fault: { kind: 'lost' }, times: 1 });
    }
    const bytes = randomBytes(101);
    expect(await uploadFile(client, request(bytes))).toMatchObject({ sizeBytes: 101 });
    expect(await service.files[0]?.sha256()).toBe(sha256(bytes));
  });

  test('sends the headers that every part requires', async () => {
    const dialect = {
      partSize: 20,
      minPartSize: 1,
      multipartThreshold: 10,
      uploadHeaders: { 'X-Needed': 'yes' },
    };
    await start({ behaviour: dialect });
    const bytes = randomBytes(50);
    await uploadFile(client, request(bytes));
    expect(await service.files[0]?.sha256()).toBe(sha256(bytes));
  });
});
