import type { IncomingHttpHeaders } from 'node:http';
import { pipeline, type Readable, type Transform, type TransformCallback } from 'node:stream';
import zlib from 'node:zlib';

/** Asks for a body as it is. Some servers compress it all the same. */
export const UNCOMPRESSED = { 'accept-encoding': 'identity' } as const;

const COMPRESSED_FILE = /\b(?:gzip|zstd)\b|\.(?:t?gz|bgz|br|zst)\b/i;
const COMPRESSED_PATH = /\.(?:t?gz|bgz|br|zst)$/i;
const MAX_CODINGS = 5;

type Decoder = Transform & { readonly bytesWritten: number };

const DECODERS: Readonly<Record<string, () => Decoder>> = {
  gzip: zlib.createGunzip,
  'x-gzip': zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: createUnzstd,
};

/**
 * Decompresses a body as its header `content-encoding` says, no faster than it is read: a reader that stops at its limit
 * is safe. Names of no compression, as storages keep them (`aws-chunked`), are left out. A file that is compressed itself
 * stays so: storages mark a `.gz` like that, too. Its type tells, or its `name` (by default that of its `path`), or its
 * `sizeBytes`, if the address has no `path` or one of a compressed file. A body breaks that is not what the header says.
 * `wasCompressed`: its length and ranges are those of the compressed bytes.
 */
export function decodeBody(
  body: Readable,
  headers: IncomingHttpHeaders,
  {
    sizeBytes,
    path,
    name = path,
  }: { sizeBytes?: number | null | undefined; path?: string; name?: string } = {},
): { readonly body: Readable; readonly wasCompressed: boolean } {
  const codings = [headers['content-encoding'] ?? []].flat().join(',').toLowerCase().split(',');
  const decoders = codings.flatMap((coding) => DECODERS[coding.trim()] ?? []).slice(0, MAX_CODINGS);
  // Storages compress a `genes.csv` with its size as listed, too: there the size alone says nothing.
  const isSizeTelling = path === undefined || COMPRESSED_PATH.test(path);
  const isOfItsSize = isSizeTelling && Number(headers['content-length']) === sizeBytes;
  const description = `${headers['content-type']} ${headers['content-disposition']}`;
  const isNamedSo = name !== undefined && COMPRESSED_PATH.test(name);
  const isCompressed = isNamedSo || isOfItsSize || COMPRESSED_FILE.test(description);
  // Google's storage unpacks a file for who asks for it as it is.
  const wasUnpacked = /\bgzip\b/.test(String(headers['x-goog-stored-content-encoding']));
  if (isCompressed || decoders.length === 0) return { body, wasCompressed: wasUnpacked && !isCompressed };
  let decoded = body;
  // If one breaks or is destroyed, all are.
  for (const decoder of decoders.reverse()) decoded = pipeline(decoded, acceptingNothing(decoder()), ignored);
  return { body: decoded.on('error', ignored), wasCompressed: true };
}

/** Whoever reads the body gets its errors. */
function ignored(): void {}

/** Keeps to the 8 MiB of RFC 9659. What follows a frame in its chunk breaks: Node drops it (https://github.com/nodejs/node/issues/64741). */
function createUnzstd(): Decoder {
  const decoder = zlib.createZstdDecompress({ params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } });
  const push = decoder.push.bind(decoder);
  const isCut = (chunk: unknown) => chunk === null && decoder.writableLength > 0;
  const cut = () => decoder.destroy(new Error('More follows a frame.')).readable;
  return Object.assign(decoder, { push: (chunk: unknown) => (isCut(chunk) ? cut() : push(chunk)) });
}

/** zlib takes no bytes at all for a broken body, but a response without a body may have the header, too. */
function acceptingNothing(decoder: Decoder): Decoder {
  const flush = decoder._flush.bind(decoder);
  decoder._flush = (done: TransformCallback) => (decoder.bytesWritten === 0 ? done() : flush(done));
  return decoder;
}

/** Bytes of the buffer that a body is copied into, at first. */
const MIN_BUFFER_BYTES = 4_096;

/** A body's text, `maxBytes` of it at most; `isWhole` is false if it was longer. `onBytes` may hold the reading up. */
export async function readText(
  body: Readable,
  maxBytes: number,
  onBytes?: (size: number) => Promise<void>,
): Promise<{ text: string; isWhole: boolean }> {
  // Copied: of a body that comes byte by byte, the chunks would take a hundred times its size.
  let read = Buffer.alloc(0);
  let size = 0;
  for await (const chunk of body) {
    await onBytes?.(chunk.length);
    const added = chunk.subarray(0, maxBytes - size + 1);
    if (size + added.length > read.length) {
      const larger = Math.max(MIN_BUFFER_BYTES, size + added.length, Math.min(maxBytes + 1, 2 * read.length));
      const copied = read.subarray(0, size);
      read = Buffer.allocUnsafeSlow(larger);
      read.set(copied);
    }
    read.set(added, size);
    size += added.length;
    if (size > maxBytes) break;
  }
  return { text: read.toString('utf8', 0, Math.min(size, maxBytes)), isWhole: size <= maxBytes };
}
