import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import S3rver from '@20minutes/s3rver';
import S3Error from '@20minutes/s3rver/lib/models/error.js';
import { type Certificate, TlsFront } from '../tls-front.ts';
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

interface S3Options {
  folder: string;
  /** The server is reached by TLS. */
  certificate?: Certificate | undefined;
}

/**
 * Starts an S3 server on a free port of 127.0.0.1, with one bucket in `folder`. It is stricter than the package: like S3
 * it refuses unsigned requests, and parts that are missing, too small, out of order or named with a wrong etag.
 */
export async function startS3({ folder, certificate }: S3Options): Promise<S3> {
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
  const join = store.putObjectMultipart.bind(store);
  store.putObjectMultipart = async (name, uploadId, parts) => {
    await checkParts(path.join(folder, name, '._S3rver_uploads', uploadId), parts);
    return join(name, uploadId, parts);
  };
  const { port } = await server.run();
  const front = certificate && new TlsFront(port, certificate);
  return {
    endpoint: front === undefined ? `http://127.0.0.1:${port}` : `https://127.0.0.1:${await front.listen()}`,
    bucket,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    stop: async () => {
      await front?.stop();
      const closed = server.close();
      server.httpServer.closeAllConnections();
      await closed;
    },
  };
}

/** @throws S3Error if the parts cannot be joined */
async function checkParts(folder: string, parts: readonly Part[]): Promise<void> {
  for (const [index, { number, etag }] of parts.entries()) {
    if (number <= (parts[index - 1]?.number ?? 0)) {
      throw new S3Error('InvalidPartOrder', `Part ${number} comes after a higher one`);
    }
    const file = path.join(folder, String(number));
    const stored = await readFile(`${file}.md5`, 'utf8').catch(() => undefined);
    if (stored !== etag) {
      throw new S3Error('InvalidPart', `Part ${number} could not be found or its etag does not match`);
    }
    if (index < parts.length - 1 && (await stat(file)).size < MIN_PART) {
      throw new S3Error('EntityTooSmall', `Part ${number} is smaller than the minimum`);
    }
  }
}
