import { FileRefusedError } from './errors.ts';

/** What is known about a stream of a file. */
export interface SizeCheck {
  fileId: string;
  /** Where the stream begins in the file, in bytes. */
  offset: number;
  /** The whole file's size in bytes, where it is known. */
  total: number | undefined;
  maxBytes: number;
  signal: AbortSignal | undefined;
}

/** The chunks as they come; throws a FileRefused when there are more or fewer bytes than there should be. */
export async function* withSizeCheck(
  source: AsyncIterable<Uint8Array>,
  measure: SizeCheck,
): AsyncGenerator<Uint8Array, undefined> {
  const { fileId, total, maxBytes: mostBytes } = measure;
  let at = measure.offset;
  try {
    for await (const chunk of source) {
      at += chunk.byteLength;
      if (total !== undefined && at > total) throw new FileRefusedError(fileId, 'changed');
      if (at > mostBytes) throw new FileRefusedError(fileId, 'too_large');
      yield chunk;
    }
  } catch (error) {
    if (error instanceof FileRefusedError || measure.signal?.aborted) throw error;
    throw new FileRefusedError(fileId, 'broken_off', error);
  }
  if (at === 0) throw new FileRefusedError(fileId, 'empty');
  if (total !== undefined && at < total) throw new FileRefusedError(fileId, 'broken_off');
  return undefined;
}

/** The stream without its first bytes, for a server that does not know ranges. */
export async function* skipBytes(
  bytes: number,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let left = bytes;
  for await (const chunk of source) {
    if (left >= chunk.byteLength) {
      left -= chunk.byteLength;
    } else {
      yield left === 0 ? chunk : chunk.subarray(left);
      left = 0;
    }
  }
}

/** Whether the bytes begin as a web page does, such as Slack's sign-in page. */
export function looksLikeHtml(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 512)).toString(
    'latin1',
  );
  return /^(\u00ef\u00bb\u00bf)?\s*(<!doctype html|<html[\s>])/i.test(start);
}
