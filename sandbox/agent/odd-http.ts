import type { Writable } from 'node:stream';
import { createBrotliCompress, createDeflate, createGzip } from 'node:zlib';
import type { Request, RequestHandler, Response } from 'express';

export type Coding = 'gzip' | 'deflate' | 'br';

/** What may be odd, but valid, about a response. */
export interface OddHttp {
  /** Compressed, although nobody asked for it. */
  readonly coding?: Coding;
  /** `100 Continue` comes first, although nobody asked for it. */
  readonly isContinued?: boolean;
  /** Bytes of a header that nobody needs. */
  readonly headerBytes?: number;
  /** What a JSON body is rewritten to. */
  readonly rewrite?: (json: string) => string;
}

const ENCODERS = {
  gzip: createGzip,
  deflate: createDeflate,
  br: createBrotliCompress,
};

/** A stream that compresses. */
export function encoder(coding: Coding) {
  return ENCODERS[coding]();
}

/** Makes the responses odd, as the call's name says. */
export function oddHttp(
  nameOf: (request: Request) => string,
  oddnessOf: (call: string) => OddHttp | undefined,
): RequestHandler {
  return (request, response, next) => {
    const { coding, isContinued, headerBytes = 0, rewrite } = oddnessOf(nameOf(request)) ?? {};
    if (isContinued === true) response.writeContinue();
    if (headerBytes > 0) response.setHeader('x-trace', 'a'.repeat(headerBytes));
    if (rewrite !== undefined) {
      const send = response.send.bind(response);
      response.send = (body) => send(typeof body === 'string' ? rewrite(body) : body);
    }
    if (coding !== undefined) compress(response, coding);
    next();
  };
}

/** Whatever is written to the response leaves it compressed. */
function compress(response: Response, coding: Coding): void {
  const encoded = encoder(coding);
  const write: Writable['write'] = response.write.bind(response);
  const end = response.end.bind(response);
  encoded.on('data', (chunk) => write(chunk)).on('end', () => end());
  const begin = (): void => {
    if (response.headersSent) return;
    response.removeHeader('content-length');
    response.setHeader('content-encoding', coding);
  };
  response.write = (chunk: unknown) => {
    begin();
    return encoded.write(chunk);
  };
  response.end = (chunk?: unknown) => {
    begin();
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) encoded.end(chunk);
    else encoded.end();
    return response;
  };
}
