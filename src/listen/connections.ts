import { setTimeout as sleep } from 'node:timers/promises';
import type { App, Receiver } from '@slack/bolt';
import type { Logger } from 'pino';
import type { Sharing } from './sharing.ts';
import { Socket } from './socket.ts';

/** What the connections need. */
export interface ConnectionsParts {
  appToken: string;
  slackApiUrl: string;
  sharing: Sharing;
  /** Hears when a connection stands. */
  onLive: () => void;
  log: Logger;
  /** How often the share is asked for (ms); a quarter of the lease when left out. */
  everyMs?: number;
}

/** What an operator wants to know. */
export interface ConnectionsState {
  /** Connections of this process on which events come. */
  live: number;
  /** Those that it may have; 0 where other processes hold all. */
  allowed: number;
  /** Why one of them is not there. */
  trouble?: string;
}

/** How much earlier than the lease the connections are closed where it cannot be renewed (ms). */
const marginMs = 1_000;

/**
 * This process's connections of Socket Mode. Slack allows an app ten: all processes share them through a lease, and a
 * process that is left without one still works turns.
 */
export class Connections implements Receiver {
  readonly #parts: ConnectionsParts;
  readonly #closing = new AbortController();
  #app: App | undefined;
  #sockets: Socket[] = [];
  #allowed = 0;
  #heldUntil = 0;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: ConnectionsParts) {
    this.#parts = parts;
  }

  get state(): ConnectionsState {
    const trouble = this.#sockets.find((socket) => !socket.live)?.trouble;
    return {
      live: this.#sockets.filter((socket) => socket.live).length,
      allowed: this.#allowed,
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
    await this.#renew();
    this.#running = this.#keep();
    try {
      await Promise.all(this.#sockets.map((socket) => socket.first));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Closes all and gives them back. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#running;
    await this.#shrink(0);
    await this.#parts.sharing.leave().catch((error: unknown) => {
      this.#parts.log.debug({ err: error }, 'the connections are not given back; their lease runs out');
    });
  }

  async #keep(): Promise<void> {
    const { sharing, log } = this.#parts;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await sleep(this.#parts.everyMs ?? sharing.leaseMs / 4, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      // A renewal that hangs must not keep what others may hold by then.
      const leftMs = Math.max(1, this.#heldUntil - performance.now());
      const over = setTimeout(() => void this.#lose(), leftMs);
      try {
        await this.#renew();
      } catch (error) {
        log.debug({ err: error }, 'the share of Slack connections could not be renewed');
        if (performance.now() >= this.#heldUntil) await this.#lose();
      } finally {
        clearTimeout(over);
      }
    }
  }

  async #lose(): Promise<void> {
    if (this.#sockets.length === 0) return;
    this.#parts.log.warn('the lease of the Slack connections is over; they are closed until it is had again');
    this.#allowed = 0;
    await this.#shrink(0);
  }

  async #renew(): Promise<void> {
    const { sharing, log } = this.#parts;
    const asked = performance.now();
    const { allowed, processes } = await sharing.renew(this.#sockets.length);
    if (this.#closing.signal.aborted) return;
    this.#heldUntil = asked + sharing.leaseMs - marginMs;
    if (performance.now() >= this.#heldUntil) return;
    if (allowed !== this.#allowed)
      log.info({ connections: allowed, processes }, 'share of Slack connections');
    this.#allowed = allowed;
    await this.#shrink(allowed);
    while (this.#sockets.length < allowed) this.#sockets.push(this.#socket());
  }

  async #shrink(most: number): Promise<void> {
    const gone = this.#sockets.splice(most);
    await Promise.all(gone.map((socket) => socket.close()));
  }

  #socket(): Socket {
    if (this.#app === undefined) throw new Error('The Bolt app must be made before its connections open.');
    const { appToken, slackApiUrl, onLive, log } = this.#parts;
    return new Socket({ app: this.#app, appToken, slackApiUrl, onLive, log });
  }
}
