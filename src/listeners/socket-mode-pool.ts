import { setTimeout as sleep } from 'node:timers/promises';
import type { App, Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { SocketLease } from './socket-lease.ts';
import { SocketModeConnection } from './socket-mode-connection.ts';

/** What the connections need. */
export interface SocketModePoolDeps {
  appToken: string;
  slackApiUrl: string;
  socketLease: SocketLease;
  /** Hears when a connection stands. */
  onConnected: () => void;
  log: Logger;
  /** How often the share is asked for (ms); a quarter of the lease when left out. */
  renewIntervalMs?: number;
}

/** What an operator wants to know. */
export interface SocketModePoolState {
  /** Connections of this process on which events come. */
  live: number;
  /** Those that it may have; 0 where other processes hold all. */
  allowed: number;
  /** Why one of them is not there. */
  trouble?: string;
}

/** How much earlier than the lease the connections are closed where it cannot be renewed (ms). */
const LEASE_MARGIN_MS = 1_000;

/**
 * This process's connections of Socket Mode. Slack allows an app ten: all processes share them through a lease, and a
 * process that is left without one still works turns.
 */
export class SocketModePool implements Receiver {
  readonly #deps: SocketModePoolDeps;
  readonly #closing = new AbortController();
  #app: App | undefined;
  #connections: SocketModeConnection[] = [];
  #maxConnections = 0;
  #leaseEndsAt = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(deps: SocketModePoolDeps) {
    this.#deps = deps;
  }

  get state(): SocketModePoolState {
    const trouble = this.#connections.find((socket) => !socket.isConnected)?.lastError;
    return {
      live: this.#connections.filter((socket) => socket.isConnected).length,
      allowed: this.#maxConnections,
      ...(trouble === undefined ? {} : { trouble }),
    };
  }

  init(app: App): void {
    this.#app = app;
  }

  /**
   * Opens what this process may have and tries it once; from then on it is kept up whatever Slack does. Throws
   * AppTokenRefused, and a StoreError where the share cannot be asked for.
   */
  async start(): Promise<void> {
    await this.#renewLease();
    this.#running = this.#renewPeriodically();
    try {
      await Promise.all(this.#connections.map((socket) => socket.firstAttempt));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Closes all and gives them back. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#closeExcess(0);
    await this.#deps.socketLease.release().catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'the connections are not given back; their lease runs out');
    });
  }

  async #renewPeriodically(): Promise<void> {
    const { socketLease, log } = this.#deps;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(this.#deps.renewIntervalMs ?? socketLease.leaseMs / 4, undefined, { signal }).catch(
        () => undefined,
      );
      if (signal.aborted) return;
      // A renewal that hangs must not keep what others may hold by then.
      const leftMs = Math.max(1, this.#leaseEndsAt - performance.now());
      const expiry = setTimeout(() => void this.#closeAll(), leftMs);
      try {
        await this.#renewLease();
      } catch (error) {
        log.debug({ err: error }, 'the share of Slack connections could not be renewed');
        if (performance.now() >= this.#leaseEndsAt) await this.#closeAll();
      } finally {
        clearTimeout(expiry);
      }
    }
  }

  async #closeAll(): Promise<void> {
    if (this.#connections.length === 0) return;
    this.#deps.log.warn('the lease of the Slack connections is over; they are closed until it is had again');
    this.#maxConnections = 0;
    await this.#closeExcess(0);
  }

  async #renewLease(): Promise<void> {
    const { socketLease, log } = this.#deps;
    const askedAt = performance.now();
    const { allowed, processes } = await socketLease.renew(this.#connections.length);
    if (this.#closing.signal.aborted) return;
    this.#leaseEndsAt = askedAt + socketLease.leaseMs - LEASE_MARGIN_MS;
    if (performance.now() >= this.#leaseEndsAt) return;
    if (allowed !== this.#maxConnections)
      log.info({ connections: allowed, processes }, 'share of Slack connections');
    this.#maxConnections = allowed;
    await this.#closeExcess(allowed);
    while (this.#connections.length < allowed) this.#connections.push(this.#openConnection());
  }

  async #closeExcess(max: number): Promise<void> {
    const excess = this.#connections.splice(max);
    await Promise.all(excess.map((socket) => socket.close()));
  }

  #openConnection(): SocketModeConnection {
    if (this.#app === undefined) throw new Error('The Bolt app must be made before its connections open.');
    const { appToken, slackApiUrl, onConnected, log } = this.#deps;
    return new SocketModeConnection({ app: this.#app, appToken, slackApiUrl, onConnected, log });
  }
}
