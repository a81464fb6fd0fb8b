import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import type { S3Place } from './storage.ts';

/** Bytes that S3 wants of every part but the last. */
const MIN_PART = 5 * 1024 * 1024;

export interface S3 extends S3Place {
  stop(): Promise<void>;
}

/**
 * Starts an S3 server on a free port of 127.0.0.1, with one bucket kept in `folder`. Where the package
 * is more lenient than S3 it is made strict: unsigned requests are refused, and parts that are missing,
 * too small or named by another etag.
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
  // Koa prints errors unless somebody listens; the client gets them as answers.
  server.on('error', () => {});
  server.middleware.splice(-1, 0, async ({ headers, query }, next) => {
    const signed = headers.authorization !== undefined || query['X-Amz-Signature'] !== undefined;
    if (!signed) throw new S3Error('AccessDenied', 'Access Denied');
    await next();
  });
  const { store } = server;
  const put = store.putObjectMultipart.bind(store);
  store.putObjectMultipart = async (name, uploadId, parts) => {
    await checkParts(join(folder, name, '._S3rver_uploads', uploadId), parts);
    return put(name, uploadId, parts);
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

async function checkParts(folder: string, parts: readonly { number: number; etag: string }[]): Promise<void> {
  for (const [index, { number, etag }] of parts.entries()) {
    const path = join(folder, String(number));
    const [stored, stats] = await Promise.all([
      readOrNothing(`${path}.md5`),
      stat(path).catch(() => undefined),
    ]);
    if (stored !== etag || stats === undefined) {
      throw new S3Error('InvalidPart', `Part ${number} could not be found or its etag is another`);
    }
    if (index < parts.length - 1 && stats.size < MIN_PART) {
      throw new S3Error('EntityTooSmall', `Part ${number} is smaller than the minimum`);
    }
  }
}

async function readOrNothing(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(() => undefined);
}
