import { createServer, type Server, type Socket } from 'node:net';
import { closeServer, listenLocally } from './local-server.ts';

/** What a new connection meets; bytes are what the other side says before it closes. */
type Welcome = 'served' | 'ignored' | 'closed' | Uint8Array;

/** A connection of a client, and its other half to the server. */
interface Link {
  client: Socket;
  server: Socket | undefined;
  /** Nothing gets through any more, in either direction. */
  isDead: boolean;
  /** The next answer is lost, and the connection breaks. */
  losesAnswer: boolean;
}

/** Stands between clients and a server, and lets connections fail in the ways in which networks do. */
export class NetworkProxy {
  /** Added to each answer of the server (ms). */
  latencyMs = 0;
  /** Asked for each request of a connection: is it carried out, but its answer lost with the connection? */
  losesAnswer: (request: Buffer, connection: object) => boolean = () => false;
  /** How many connections there were so far. */
  accepted = 0;
  readonly #server: Server;
  readonly #links = new Set<Link>();
  #connect: (() => Socket) | undefined;
  #welcome: Welcome = 'served';
  #port = 0;

  /** `connect` opens a connection to the server, for each of a client. */
  constructor(connect?: () => Socket) {
    this.#connect = connect;
    this.#server = createServer((client) => this.#accept(client));
  }

  /** Listens on 127.0.0.1. */
  async listen(): Promise<this> {
    this.#port = await listenLocally(this.#server);
    return this;
  }

  /** Leads further connections elsewhere. */
  leadTo(connect: () => Socket): void {
    this.#connect = connect;
  }

  get port(): number {
    return this.#port;
  }

  /** The connections say nothing any more, not even later; new ones reach the server. */
  silence(): void {
    for (const link of this.#links) link.isDead = true;
  }

  /** The host vanishes: its connections are silent, and new ones get no answer. */
  vanish(): void {
    this.silence();
    this.#welcome = 'ignored';
  }

  /** Resets all connections; so it greets new ones. */
  reset(welcome: Exclude<Welcome, 'ignored'>): void {
    for (const { client, server } of this.#links) {
      client.resetAndDestroy();
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
    await closeServer(this.#server);
  }

  #accept(client: Socket): void {
    this.accepted += 1;
    client.on('error', () => undefined);
    const welcome = this.#welcome;
    if (welcome === 'closed') return void client.resetAndDestroy();
    if (typeof welcome !== 'string') return void client.once('data', () => client.end(welcome));
    const server = welcome === 'served' ? this.#connect?.() : undefined;
    const link: Link = { client, server, isDead: server === undefined, losesAnswer: false };
    this.#links.add(link);
    client.on('close', () => {
      // A host that has vanished never learns that the other side has given up, until it is reset or stopped.
      if (link.isDead) return;
      this.#links.delete(link);
      server?.destroy();
    });
    client.on('data', (chunk) => {
      if (link.isDead) return;
      server?.write(chunk);
      if (this.losesAnswer(chunk, link)) link.losesAnswer = true;
    });
    server?.on('error', () => undefined);
    server?.on('close', () => {
      if (!link.isDead) client.destroy();
    });
    server?.on('data', (chunk) => this.#answer(link, chunk));
  }

  /** Chunks that wait equally long keep their order. */
  #answer(link: Link, chunk: Uint8Array): void {
    if (link.losesAnswer) return void link.client.resetAndDestroy();
    const pass = () => {
      if (!link.isDead) link.client.write(chunk);
    };
    if (this.latencyMs === 0) pass();
    else setTimeout(pass, this.latencyMs);
  }
}
