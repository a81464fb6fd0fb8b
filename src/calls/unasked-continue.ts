import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { z } from 'zod';

/*
 * A server may send `100 Continue` although nobody asked for it, and clients accept that (RFC 9110, 15.2). undici breaks
 * the connection instead, after the request has taken effect, and has no setting for it. So what comes on a connection
 * after a request is read here first, until the response itself begins.
 */

/** The beginning of a response that another one follows; after 101, the connection speaks something else. */
const INFORMATIONAL = /^HTTP\/1\.1 1(?!01)\d\d/;
const STATUS_LINE_START = 'HTTP/1.1 1';
const STATUS_LENGTH = 'HTTP/1.1 100'.length;
const HEAD_END = '\r\n\r\n';
/** The longest head of a response that is read, in bytes: gateways add much to it. */
export const MAX_HEAD_BYTES = 64 * 1024;

const sentSchema = z.object({
  socket: z.custom<Socket>((value) => typeof Object(value).push === 'function'),
});

/** What has come of a response so far, by connection; undefined once the response itself has begun. */
const heads = new WeakMap<Socket, Buffer | undefined>();

// Every connection of undici tells this just before it writes a request, also one through a proxy.
subscribe('undici:client:sendHeaders', (sent) => {
  const { data } = sentSchema.safeParse(sent);
  if (data === undefined) return;
  if (!heads.has(data.socket)) leaveOutInformational(data.socket);
  heads.set(data.socket, Buffer.alloc(0));
});

/** The connection no longer reads informational responses. */
function leaveOutInformational(socket: Socket): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null) => {
    const before = heads.get(socket);
    if (before === undefined) return push(chunk);
    const head = withoutInformational(chunk === null ? before : Buffer.concat([before, chunk]));
    const isWaiting = chunk !== null && mayBeInformational(head);
    heads.set(socket, isWaiting ? head : undefined);
    if (isWaiting) return true;
    if (head.length > 0) push(head);
    return chunk !== null || push(null);
  };
}

/** The bytes after the informational responses that have come as a whole. */
function withoutInformational(bytes: Buffer): Buffer {
  let rest = bytes;
  while (INFORMATIONAL.test(rest.toString('latin1', 0, STATUS_LENGTH))) {
    const end = rest.indexOf(HEAD_END);
    if (end < 0) break;
    rest = rest.subarray(end + HEAD_END.length);
  }
  return rest;
}

function mayBeInformational(head: Buffer): boolean {
  const start = head.toString('latin1', 0, STATUS_LENGTH);
  if (start.length < STATUS_LENGTH)
    return STATUS_LINE_START.startsWith(start.slice(0, STATUS_LINE_START.length));
  return INFORMATIONAL.test(start) && head.length <= MAX_HEAD_BYTES;
}
