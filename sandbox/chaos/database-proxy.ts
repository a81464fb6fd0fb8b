import { connect, type Socket } from 'node:net';
import { NetworkProxy } from '../network-proxy.ts';
import type { DatabaseConnection } from './bot-database.ts';

/** What PostgreSQL answers where all its connections are taken: severity, code and message. */
const TOO_MANY_CLIENTS = 'SFATAL\0VFATAL\0C53300\0Msorry, too many clients already\0\0';

/** Stands between the bot and its database server. */
export class DatabaseProxy extends NetworkProxy {
  readonly #target: () => DatabaseConnection;

  private constructor(target: () => DatabaseConnection) {
    super(() => connectTo(target()));
    this.#target = target;
  }

  /** Listens on 127.0.0.1 for the server that `target` names at the time of each connection. */
  static async start(target: () => DatabaseConnection): Promise<DatabaseProxy> {
    return new DatabaseProxy(target).listen();
  }

  /** The server's address, seen through the proxy. */
  get connection(): DatabaseConnection {
    return { ...this.#target(), host: '127.0.0.1', port: this.port };
  }

  /** Resets all connections; new ones are told that the server is full, or another `refusal`. */
  fill(refusal = TOO_MANY_CLIENTS): void {
    this.reset(errorResponse(refusal));
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
function connectTo({ host, port }: DatabaseConnection): Socket {
  return host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect({ host, port });
}
