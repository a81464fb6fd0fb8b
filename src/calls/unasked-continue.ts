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
const LONGEST_START = 'HTTP/1.1 1';
const STATUS_LENGTH = 'HTTP/1.1 100'.length;
const HEAD_END = '\r\n\r\n';
/** The longest head of a response that is read, in bytes: gateways add much to it. */
export const MAX_HEAD_BYTES = 64 * 1024;

const sentSchema = z.object({
  socket: z.custom<Socket>((value) => typeof Object(value).push === 'function'),
});

/** What has come after a request, by connection; undefined once the response itself has begun. */
const held = new WeakMap<Socket, Buffer | undefined>();

// Every connection of undici tells this just before it writes a request, also one through a proxy.
subscribe('undici:client:sendHeaders', (sent) => {
  const { data } = sentSchema.safeParse(sent);
  if (data === undefined) return;
  if (!held.has(data.socket)) leaveOutInformational(data.socket);
  held.set(data.socket, Buffer.alloc(0));
});

/** The connection no longer reads informational responses. */
function leaveOutInformational(socket: Socket): void {
  const push = socket.push.bind(socket);
  socket.push = (chunk: Buffer | null) => {
    const before = held.get(socket);
    if (before === undefined) return push(chunk);
    const bytes = chunk === null ? before : Buffer.concat([before, chunk]);
    const response = chunk === null || bytes.length > MAX_HEAD_BYTES ? bytes : afterInformational(bytes);
    held.set(socket, response === undefined ? bytes : undefined);
    const isMoreWanted = response === undefined || response.length === 0 || push(response);
    return chunk === null ? push(null) : isMoreWanted;
  };
}

/** The response itself; undefined until it begins. */
function afterInformational(bytes: Buffer): Buffer | undefined {
  const start = bytes.toString('latin1', 0, STATUS_LENGTH);
  if (!INFORMATIONAL.test(start)) {
    const mayBecome =
      start.length < STATUS_LENGTH && LONGEST_START.startsWith(start.slice(0, LONGEST_START.length));
    return mayBecome ? undefined : bytes;
  }
  const end = bytes.indexOf(HEAD_END);
  return end < 0 ? undefined : afterInformational(bytes.subarray(end + HEAD_END.length));
}
