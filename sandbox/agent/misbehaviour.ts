import type { Response } from 'express';

/** What a call is about. */
export interface CallSubject {
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  body: unknown;
}

/** A wrong answer to a call that itself takes effect. */
export type Misbehaviour =
  /** Sends JSON without end. */
  | { kind: 'endless' }
  /** Sends so many bytes of a text, then nothing more; the connection stays open. */
  | { kind: 'stalled'; bytes: number }
  /** Sends the first `bytes` of the body one by one. */
  | { kind: 'dribbled'; bytes: number }
  /** Declares another length than it sends. */
  | { kind: 'wrong-length'; difference: number }
  /** Sends a body as it is, whatever it is; a string need not be JSON, and bytes are sent as they are. */
  | { kind: 'body'; body: unknown; status?: number; headers?: Record<string, string> };

const PIECE = '{"a":['.repeat(10_000);

/** Answers with `body` as the misbehaviour says. */
export async function misbehave(wrong: Misbehaviour, response: Response, body: object): Promise<void> {
  const text = JSON.stringify(body);
  response.type('application/json');
  switch (wrong.kind) {
    case 'endless':
      return pour(response, Number.POSITIVE_INFINITY);
    case 'stalled':
      return pour(response, wrong.bytes);
    case 'dribbled':
      for (let at = 0; at < Math.min(wrong.bytes, text.length) && !response.destroyed; at += 1) {
        response.write(text.charAt(at));
        await new Promise((resolve) => setImmediate(resolve));
      }
      response.end(text.slice(wrong.bytes));
      return;
    case 'wrong-length': {
      const length = Math.max(0, Buffer.byteLength(text) + wrong.difference);
      response.socket?.end(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n${text}`,
      );
      return;
    }
    case 'body':
      response.status(wrong.status ?? 200).set(wrong.headers ?? {});
      response.send(
        typeof wrong.body === 'string' || Buffer.isBuffer(wrong.body)
          ? wrong.body
          : JSON.stringify(wrong.body),
      );
  }
}

/** Sends so many bytes of a text, as fast as they are taken, and leaves the response open. */
function pour(response: Response, bytes: number): void {
  let sent = 0;
  const more = () => {
    while (sent < bytes && !response.destroyed) {
      sent += PIECE.length;
      if (!response.write(PIECE)) return;
    }
  };
  response.on('drain', more);
  more();
}
