import type { IncomingMessage, Server } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import {
  ackWaitMs,
  type Delivery,
  type DeliveryOutcome,
  type DeliveryTransport,
  SILENTLY_LOST,
} from './deliveries.ts';
import type { Ids, Random } from './ids.ts';
import { isFields } from './model.ts';

const MAX_CONNECTIONS = 10;
const PING_INTERVAL_MS = 5000;
/** Slack closes a connection about this long after its warning (ms). */
const CLOSE_AFTER_MS = 10_000;
/** How long `stop` waits for the client to close (ms). */
const CLOSE_TIMEOUT_MS = 500;

export type DisconnectReason = 'warning' | 'refresh_requested' | 'link_disabled';

interface SocketModeOptions {
  ids: Ids;
  random: Random;
  ackTimeoutMs: number;
  appId: string;
}

interface Waiting {
  socket: WebSocket;
  settle(outcome: DeliveryOutcome): void;
}

/** Socket Mode: sends each envelope to one of up to ten connections and waits for its acknowledgement. */
export class SocketModeServer implements DeliveryTransport {
  readonly #server = new WebSocketServer({ noServer: true });
  readonly #sockets = new Set<WebSocket>();
  readonly #deaf = new Set<WebSocket>();
  readonly #tickets = new Set<string>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #timers = new Set<NodeJS.Timeout>();
  readonly #pings: NodeJS.Timeout;
  readonly #options: SocketModeOptions;

  constructor(options: SocketModeOptions) {
    this.#options = options;
    this.#pings = setInterval(() => {
      for (const socket of this.#sockets) socket.ping();
    }, PING_INTERVAL_MS);
    this.#pings.unref();
  }

  /** The number of open connections. */
  get count(): number {
    return this.#sockets.size;
  }

  /** A ticket for one connection. */
  ticket(): string {
    const ticket = this.#options.ids.uuid();
    this.#tickets.add(ticket);
    return ticket;
  }

  /** Accepts WebSocket connections on this server. */
  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket, head) => {
      const ticket = new URL(request.url ?? '/', 'http://localhost').searchParams.get('ticket') ?? '';
      if (!this.#tickets.delete(ticket)) {
        socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n');
        return;
      }
      this.#server.handleUpgrade(request, socket, head, (opened) => this.#open(opened));
    });
  }

  /** Sends an envelope; it fails if it is not acknowledged in time or the connection closes first. */
  deliver(delivery: Omit<Delivery, 'payload'> & { payload: unknown }): Promise<DeliveryOutcome> {
    const open = [...this.#sockets].filter((socket) => socket.readyState === WebSocket.OPEN);
    const socket = open[Math.floor(this.#options.random() * open.length)];
    if (socket === undefined) return Promise.resolve({ acked: false, reason: 'connection_failed' });
    if (this.#deaf.has(socket) && delivery.kind === 'events_api') return Promise.resolve(SILENTLY_LOST);
    const envelopeId = this.#options.ids.uuid();
    return new Promise((resolve) => {
      const settle = (outcome: DeliveryOutcome) => {
        clearTimeout(timer);
        this.#timers.delete(timer);
        this.#waiting.delete(envelopeId);
        resolve(outcome);
      };
      const waitMs = ackWaitMs(delivery, this.#options.ackTimeoutMs);
      const timer = setTimeout(() => settle({ acked: false, reason: 'timeout' }), waitMs);
      this.#timers.add(timer);
      this.#waiting.set(envelopeId, { socket, settle });
      socket.send(JSON.stringify(envelope(delivery, envelopeId)));
    });
  }

  /**
   * Asks connections to close, as Slack does every few hours. They close after 10 s, or at once for `link_disabled`
   * (Socket Mode was switched off). `max` limits the number of connections.
   */
  refresh(reason: DisconnectReason, max = Number.POSITIVE_INFINITY): void {
    for (const socket of [...this.#sockets].slice(0, max)) {
      socket.send(JSON.stringify({ type: 'disconnect', reason, debug_info: { host: 'sandbox' } }));
      const close = () => socket.close(1000);
      if (reason === 'link_disabled') close();
      else {
        const timer = setTimeout(close, CLOSE_AFTER_MS);
        timer.unref();
        this.#timers.add(timer);
      }
    }
  }

  /** The open connections stay open, but lose all further events; new ones do not. */
  goDeaf(): () => void {
    for (const socket of this.#sockets) this.#deaf.add(socket);
    return () => this.#deaf.clear();
  }

  /** Sends any text to a random connection. */
  sendFrame(text: string): void {
    const open = [...this.#sockets];
    open[Math.floor(this.#options.random() * open.length)]?.send(text);
  }

  /** Cuts all connections without a close frame. */
  cut(): void {
    for (const socket of this.#sockets) socket.terminate();
  }

  /** Closes all connections; resolves when they are closed. */
  async stop(): Promise<void> {
    clearInterval(this.#pings);
    for (const timer of this.#timers) clearTimeout(timer);
    for (const waiting of this.#waiting.values())
      waiting.settle({ acked: false, reason: 'connection_failed' });
    const gone = [...this.#sockets].map(
      (socket) => new Promise<void>((resolve) => socket.once('close', () => resolve())),
    );
    for (const socket of this.#sockets) socket.close(1001);
    await Promise.race([Promise.all(gone), sleep(CLOSE_TIMEOUT_MS, undefined, { ref: false })]);
    this.cut();
    this.#server.close();
  }

  #open(socket: WebSocket): void {
    if (this.#sockets.size >= MAX_CONNECTIONS) {
      socket.send(JSON.stringify({ type: 'disconnect', reason: 'too_many_websockets' }));
      socket.close(1008);
      return;
    }
    this.#sockets.add(socket);
    socket.on('message', (data) => this.#onMessage(data));
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      this.#sockets.delete(socket);
      this.#deaf.delete(socket);
      for (const waiting of [...this.#waiting.values()]) {
        if (waiting.socket === socket) waiting.settle({ acked: false, reason: 'connection_failed' });
      }
    });
    socket.send(
      JSON.stringify({
        type: 'hello',
        num_connections: this.#sockets.size,
        debug_info: { host: 'sandbox', build_number: 1, approximate_connection_time: 18_060 },
        connection_info: { app_id: this.#options.appId },
      }),
    );
    socket.ping();
  }

  #onMessage(data: RawData): void {
    let said: unknown;
    try {
      said = JSON.parse(textOf(data));
    } catch {
      return;
    }
    if (!isFields(said) || typeof said.envelope_id !== 'string') return;
    const body = isFields(said.payload) && Object.keys(said.payload).length === 0 ? undefined : said.payload;
    this.#waiting.get(said.envelope_id)?.settle({ acked: true, ...(body === undefined ? {} : { body }) });
  }
}

function envelope(
  delivery: Omit<Delivery, 'payload'> & { payload: unknown },
  envelopeId: string,
): Record<string, unknown> {
  const retry = { retry_attempt: delivery.attempt, retry_reason: delivery.reason ?? '' };
  return {
    envelope_id: envelopeId,
    type: delivery.kind,
    accepts_response_payload: delivery.kind !== 'events_api',
    payload: delivery.payload,
    ...(delivery.kind === 'events_api' ? retry : {}),
  };
}

function textOf(data: RawData): string {
  if (Array.isArray(data)) return Buffer.concat(data).toString();
  return Buffer.isBuffer(data) ? data.toString() : Buffer.from(data).toString();
}
