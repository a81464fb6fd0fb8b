import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { listenLocally } from '../local-server.ts';
import type { DatabaseConnection } from './bot-database.ts';

/** What a new connection meets. */
type Welcome = 'served' | 'ignored' | 'closed' | 'full';

/** A connection of the bot, and its other half to the server. */
interface Link {
  bot: Socket;
  server: Socket | undefined;
  /** Nothing gets through any more, in either direction. */
  isDead: boolean;
  /** The next answer is lost, and the connection breaks. */
  losesAnswer: boolean;
}

/** What PostgreSQL answers where all its connections are taken: severity, code and message. */
const TOO_MANY_CLIENTS = 'SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0';

/** Stands between the bot and its database server, and lets connections fail in the ways in which networks do. */
export class DatabaseProxy {
  /** Added to each answer of the server (ms). */
  latencyMs = 0;
  /** Asked for each request of a connection: is it carried out, but its answer lost with the connection? */
  losesAnswer: (request: Buffer, connection: object) => boolean = () => false;
  readonly #server: Server;
  readonly #target: () => DatabaseConnection;
  readonly #links = new Set<Link>();
  #welcome: Welcome = 'served';
  #port = 0;

  private constructor(target: () => DatabaseConnection) {
    this.#target = target;
    this.#server = createServer((bot) => this.#accept(bot));
  }

  /** Listens on 127.0.0.1 for the server that `target` names at the time of each connection. */
  static async start(target: () => DatabaseConnection): Promise<DatabaseProxy> {
    const proxy = new DatabaseProxy(target);
    proxy.#port = await listenLocally(proxy.#server);
    return proxy;
  }

  /** The server's address, seen through the proxy. */
  get connection(): DatabaseConnection {
    return { ...this.#target(), host: '127.0.0.1', port: this.#port };
  }

  /** The host vanishes: its connections say nothing any more, not even later, and new ones get no answer. */
  vanish(): void {
    for (const link of this.#links) link.isDead = true;
    this.#welcome = 'ignored';
  }

  /** Resets all connections; new ones are closed at once, or told that the server is full. */
  reset(welcome: 'closed' | 'full'): void {
    for (const { bot, server } of this.#links) {
      bot.resetAndDestroy();
      server?.destroy();
    }
    this.#welcome = welcome;
  }

  /** New connections reach the server again. */
  restore(): void {
    this.#welcome = 'served';
  }

  async stop(): Promise<void> {
    this.reset('closed');
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
  }

  #accept(bot: Socket): void {
    bot.on('error', () => undefined);
    if (this.#welcome === 'closed') return void bot.resetAndDestroy();
    if (this.#welcome === 'full')
      return void bot.once('data', () => bot.end(errorResponse(TOO_MANY_CLIENTS)));
    const { host, port } = this.#target();
    const server = this.#welcome === 'served' ? connectTo(host, port) : undefined;
    const link: Link = { bot, server, isDead: this.#welcome === 'ignored', losesAnswer: false };
    this.#links.add(link);
    bot.on('close', () => {
      this.#links.delete(link);
      // A host that has vanished never learns that the other side has given up.
      if (!link.isDead) server?.destroy();
    });
    bot.on('data', (chunk) => {
      if (link.isDead) return;
      server?.write(chunk);
      if (this.losesAnswer(chunk, link)) link.losesAnswer = true;
    });
    server?.on('error', () => undefined);
    server?.on('close', () => {
      if (!link.isDead) bot.destroy();
    });
    server?.on('data', (chunk) => this.#answer(link, chunk));
  }

  /** Chunks that wait equally long keep their order. */
  #answer(link: Link, chunk: Uint8Array): void {
    if (link.losesAnswer) return void link.bot.resetAndDestroy();
    const pass = () => {
      if (!link.isDead) link.bot.write(chunk);
    };
    if (this.latencyMs === 0) pass();
    else setTimeout(pass, this.latencyMs);
  }
}

/** A message of the protocol: https://www.postgresql.org/docs/18/protocol-message-formats.html */
function errorResponse(fields: string): Buffer {
  const message = Buffer.alloc(5 + fields.length);
  message.write('E', 0);
  message.writeInt32BE(4 + fields.length, 1);
  message.write(fields, 5);
  return message;
}

/** As PostgreSQL's clients do: a host that is a path is the folder of the server's socket. */
function connectTo(host: string, port: number): Socket {
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port });
}
