import { writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { constants, createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer, getCACertificates, setDefaultCACertificates } from 'node:tls';
import { closeServer, listenLocally } from './local-server.ts';

/** A certificate for 127.0.0.1 and localhost that is its own authority, and its key (PEM). */
export interface Certificate {
  cert: string;
  key: string;
}

async function newCertificate(): Promise<Certificate> {
  // Only runs with TLS need it.
  const { generate } = await import('selfsigned');
  const names = [
    { type: 7, ip: '127.0.0.1' },
    { type: 2, value: 'localhost' },
  ] as const;
  const { cert, private: key } = await generate([{ name: 'commonName', value: 'Taskthread sandbox' }], {
    keyType: 'ec',
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [...names] },
    ],
  });
  return { cert, key };
}

let ownCertificate: Promise<Certificate> | undefined;

/**
 * A certificate that this process trusts; so do others with these `settings`, as long as `folder` has its file.
 */
export async function certify(
  folder: string,
): Promise<{ certificate: Certificate; settings: Record<string, string> }> {
  // One for all: two authorities of one name are taken for each other.
  ownCertificate ??= newCertificate();
  const certificate = await ownCertificate;
  const file = join(folder, 'certificate.pem');
  await writeFile(file, certificate.cert);
  setDefaultCACertificates([...new Set([...getCACertificates(), certificate.cert])]);
  return { certificate, settings: { NODE_EXTRA_CA_CERTS: file } };
}

/** Offers HTTP/2 and HTTP/1.1 over TLS, as Slack may, for a server that speaks HTTP/1.1 on 127.0.0.1. */
export class TlsFront {
  /** What was agreed on for each connection so far. */
  readonly protocols: string[] = [];
  readonly #port: number;
  readonly #server;

  /** `port`: that of the server behind it. */
  constructor(port: number, certificate: Certificate) {
    this.#port = port;
    const http2 = createServer((request, response) => forward(request, response, port));
    this.#server = createTlsServer({ ...certificate, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) => {
      this.protocols.push(socket.alpnProtocol || 'none');
      socket.on('error', () => undefined);
      if (socket.alpnProtocol === 'h2') http2.emit('connection', socket);
      else bridge(socket, connect(this.#port, '127.0.0.1'));
    });
  }

  /** Listens on 127.0.0.1, on any free port by default; resolves to the port. */
  listen(port?: number): Promise<number> {
    return listenLocally(this.#server, port);
  }

  stop(): Promise<void> {
    return closeServer(this.#server);
  }
}

function bridge(one: Socket, other: Socket): void {
  one.pipe(other).pipe(one);
  one.on('close', () => other.destroy());
  other.on('close', () => one.destroy()).on('error', () => undefined);
}

/** Makes the same request by HTTP/1.1. */
function forward(request: Http2ServerRequest, response: Http2ServerResponse, port: number): void {
  const { method, url: path, authority } = request;
  const headers = Object.entries(request.headers).filter(([name]) => !name.startsWith(':'));
  const fail = () => response.stream?.close(constants.NGHTTP2_INTERNAL_ERROR);
  const onward = httpRequest(
    {
      ...{ host: '127.0.0.1', port, method, path, agent: false },
      headers: { ...Object.fromEntries(headers), host: authority },
    },
    (answer) => {
      const { connection: _connection, 'keep-alive': _keepAlive, ...kept } = answer.headers;
      delete kept['transfer-encoding'];
      response.writeHead(answer.statusCode ?? 502, kept);
      answer.on('error', fail).pipe(response);
    },
  );
  request.pipe(onward.on('error', fail));
  response.on('close', () => onward.destroy());
}
