import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import S3rver from '@20minutes/s3rver';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import type { S3Location } from './storage.ts';

/** S3's minimum size of every part but the last (bytes). */
const MIN_PART = 5 * 1024 * 1024;

interface Part {
  number: number;
  etag: string;
}

export interface S3 extends S3Location {
  stop(): Promise<void>;
}

/**
 * Starts an S3 server on a free port of 127.0.0.1, with one bucket in `folder`. It is stricter than the package: like S3
 * it refuses unsigned requests, and parts that are missing, too small, out of order or named with a wrong etag. As in S3,
 * the parts of a file are not hashed again.
 */
export async function startS3({ folder }: { folder: string }): Promise<S3> {
  const bucket = 'agent-files';
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    vhostBuckets: false,
    configureBuckets: [{ name: bucket }],
  });
  // Without a listener Koa prints errors; the client receives them as responses.
  server.on('error', () => {});
  server.middleware.splice(-1, 0, async ({ headers, query }, next) => {
    const signed = headers.authorization !== undefined || query['X-Amz-Signature'] !== undefined;
    if (!signed) throw new S3Error('AccessDenied', 'Access Denied');
    await next();
  });
  const { store } = server;
  store.putObjectMultipart = async (name, uploadId, parts) => {
    const uploads = join(folder, name, '._S3rver_uploads', uploadId);
    const md5s = await checkParts(uploads, parts);
    const key = await readFile(join(uploads, 'key'), 'utf8');
    const metadata: unknown = JSON.parse(await readFile(join(uploads, 'metadata'), 'utf8'));
    const paths = parts.map(({ number }) => join(uploads, String(number)));
    const size = await joinFiles(paths, store.getResourcePath(name, key, 'object'));
    const md5 = `${createHash('md5').update(md5s.join(''), 'hex').digest('hex')}-${parts.length}`;
    await store.putMetadata(name, key, metadata, md5);
    await rm(uploads, { recursive: true });
    return { size, md5 };
  };
  const { port } = await server.run();
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    stop: async () => {
      const closed = server.close();
      server.httpServer.closeAllConnections();
      await closed;
    },
  };
}

/** The hex digests of the parts. @throws S3Error if they cannot be joined */
async function checkParts(folder: string, parts: readonly Part[]): Promise<string[]> {
  for (const [index, { number, etag }] of parts.entries()) {
    if (number <= (parts[index - 1]?.number ?? 0)) {
      throw new S3Error('InvalidPartOrder', `Part ${number} comes after a higher one`);
    }
    const path = join(folder, String(number));
    const [stored, stats] = await Promise.all([
      readOrNothing(`${path}.md5`),
      stat(path).catch(() => undefined),
    ]);
    if (stored !== etag || stats === undefined) {
      throw new S3Error('InvalidPart', `Part ${number} could not be found or its etag does not match`);
    }
    if (index < parts.length - 1 && stats.size < MIN_PART) {
      throw new S3Error('EntityTooSmall', `Part ${number} is smaller than the minimum`);
    }
  }
  return parts.map(({ etag }) => etag);
}

async function readOrNothing(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}

/** Concatenates the files into one; returns its size in bytes. */
async function joinFiles(paths: readonly string[], whole: string): Promise<number> {
  await mkdir(dirname(whole), { recursive: true });
  await pipeline(async function* () {
    for (const path of paths) yield* createReadStream(path);
  }, createWriteStream(whole));
  return (await stat(whole)).size;
}
