import { createHash, randomUUID } from 'node:crypto';
import type { App, Receiver } from '@slack/bolt';
import { repeatCall } from '../calls/retries-and-waits.ts';
import { Poller } from '../relay/runtime/poller.ts';
import { StoreError } from '../store/errors.ts';
import { SOCKET_LEASE_MS, type SocketLeases } from '../store/slack/socket-leases.ts';
import { SocketModeConnection, type SocketModeConnectionDeps } from './socket-mode-connection.ts';

/** A process's share of the app's Socket Mode connections. */
export type SocketLease = ReturnType<typeof createSocketLease>;

export interface SocketModePoolDeps extends Omit<SocketModeConnectionDeps, 'app'> {
  socketLease: SocketLease;
  /** How often the lease is renewed (ms); by default a quarter of its time. */
  renewIntervalMs?: number;
  /** How long the connections stay open while the lease cannot be renewed (ms). */
  keepOpenMs?: number;
}

/**
 * For these five minutes, what arrives while the database is away is kept in memory. Slack would send it again to nobody,
 * and after five minutes not at all. Meanwhile other processes may open too many: Slack refuses those, and they try again.
 */
const KEEP_OPEN_MS = 5 * 60_000;
/** How often a start asks for its first lease; each try takes as long as the database's time-out. */
const FIRST_LEASE_ATTEMPTS = 4;

/** This process's share of the ten connections that Slack allows an app. Without any, it still runs turns. */
export class SocketModePool implements Receiver {
  readonly #deps: SocketModePoolDeps;
  #app: App | undefined;
  #connections: SocketModeConnection[] = [];
  #maxConnections = 0;
  /** Closes all connections once the lease was not renewed for so long. */
  #expiry: NodeJS.Timeout | undefined;
  readonly #renewals: Poller;

  constructor(deps: SocketModePoolDeps) {
    this.#deps = deps;
    this.#renewals = new Poller({
      intervalMs: deps.renewIntervalMs ?? deps.socketLease.leaseMs / 4,
      poll: () => this.#renewLease(),
      onError: (error) => deps.log.debug({ err: error }, 'could not renew the Socket Mode lease'),
    });
  }

  /** How many are open, how many may be (0 if other processes hold them all), and why one of them is not open. */
  get state() {
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

  /** Opens the connections and keeps them open. Throws a SlackAuthError, or a StoreError without the lease. */
  async start(): Promise<void> {
    // A database that has just started, or is busy, may be slow to accept the first connection.
    await repeatCall(
      () => this.#renewLease(),
      (error, attempt) => (error instanceof StoreError && attempt < FIRST_LEASE_ATTEMPTS ? 0 : undefined),
    );
    this.#renewals.start();
    try {
      await Promise.all(this.#connections.map((socket) => socket.firstAttempt));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Closes all connections and releases the lease. */
  async stop(): Promise<void> {
    await this.#renewals.stop();
    clearTimeout(this.#expiry);
    await this.#closeExcess(0);
    await this.#deps.socketLease.release().catch((error: unknown) => {
      this.#deps.log.debug({ err: error }, 'could not release the Socket Mode lease; it will expire');
    });
  }

  /** Replaces the connections one by one, so that the others stay open. Never throws. */
  async rebuild(): Promise<void> {
    for (const old of [...this.#connections]) {
      await old.close();
      const index = this.#connections.indexOf(old);
      if (index < 0 || this.#renewals.signal.aborted) continue;
      const fresh = this.#openConnection();
      this.#connections[index] = fresh;
      await fresh.firstAttempt.catch(() => undefined);
    }
  }

  async #closeAll(): Promise<void> {
    if (this.#connections.length === 0) return;
    this.#deps.log.warn('closing the Socket Mode connections: their lease could not be renewed in time');
    this.#maxConnections = 0;
    await this.#closeExcess(0);
  }

  async #renewLease(): Promise<void> {
    const { socketLease, keepOpenMs = KEEP_OPEN_MS, log } = this.#deps;
    const askedAt = performance.now();
    const { allowed, processes } = await socketLease.renew(this.#connections.length);
    if (this.#renewals.signal.aborted) return;
    // An answer that is older than the lease says nothing about now.
    if (performance.now() >= askedAt + socketLease.leaseMs) return;
    clearTimeout(this.#expiry);
    this.#expiry = setTimeout(() => void this.#closeAll(), askedAt + keepOpenMs - performance.now());
    if (allowed !== this.#maxConnections)
      log.info({ connections: allowed, processes }, 'Socket Mode connections of this process');
    this.#maxConnections = allowed;
    await this.#closeExcess(allowed);
    while (this.#connections.length < allowed) this.#connections.push(this.#openConnection());
  }

  async #closeExcess(max: number): Promise<void> {
    const excess = this.#connections.splice(max);
    await Promise.all(excess.map((socket) => socket.close()));
  }

  #openConnection(): SocketModeConnection {
    if (this.#app === undefined) throw new Error('The Bolt app must be created before its connections open.');
    return new SocketModeConnection({ ...this.#deps, app: this.#app });
  }
}

/**
 * How many connections a process may have: two if there are enough for all processes, else one, and never more than are
 * free. A single process has two; of several, at least two have one if `most` is two or more. Pure.
 */
export function fairShare(at: { most: number; processes: number; taken: number }): number {
  const fair = at.processes * 2 <= at.most ? 2 : 1;
  return Math.max(0, Math.min(fair, at.most - at.taken));
}

/** Shares at most `maxConnections` connections among all processes, through the database. */
export function createSocketLease(
  leases: SocketLeases,
  workspace: string,
  appToken: string,
  maxConnections: number,
) {
  const key = { workspace, app_id: slackAppIdOf(appToken), process_id: randomUUID() };
  return {
    /** Reports how many are open here; returns how many may be, for `leaseMs` from now. Throws a StoreError. */
    renew: (open: number) => leases.renew(key, open, (at) => fairShare({ most: maxConnections, ...at })),
    release: () => leases.release(key),
    leaseMs: SOCKET_LEASE_MS,
  };
}

/** The Slack app of an app-level token (`xapp-1-A0123-…`); a token of another form stands for itself. */
export function slackAppIdOf(appToken: string): string {
  const named = /^xapp-\d+-(A[A-Z0-9]+)-/.exec(appToken)?.[1];
  return named ?? createHash('sha256').update(appToken).digest('hex').slice(0, 16);
}
