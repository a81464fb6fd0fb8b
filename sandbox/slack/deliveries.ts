import { setTimeout as sleep } from 'node:timers/promises';
import type { Fields } from './model.ts';

/** One attempt to send something to the app. */
export interface Delivery {
  kind: 'events_api' | 'interactive' | 'slash_commands';
  payload: Fields;
  /** 0 for the first attempt. */
  attempt: number;
  /** Why the previous attempt failed. */
  reason?: string;
}

/** The outcome of one attempt. */
export type DeliveryOutcome =
  | { acked: true; body?: unknown }
  | { acked: false; reason: string; noRetry?: boolean };

/** A connection to the app: Socket Mode or HTTP. */
export interface DeliveryTransport {
  deliver(delivery: Delivery): Promise<DeliveryOutcome>;
  /** Loses all further events without an error, as Slack sometimes does; the returned function ends that. */
  goDeaf(): () => void;
}

/** The outcome of an event that is lost without an error: Slack takes it for delivered. */
export const SILENTLY_LOST: DeliveryOutcome = { acked: false, reason: 'lost', noRetry: true };

export interface DeliveryStats {
  /** Events and interactions, each counted once. */
  sent: number;
  acked: number;
  /** Attempts after the first. */
  retries: number;
  /** Never acknowledged. */
  lost: number;
  /** Sent again after an acknowledgement. */
  duplicates: number;
  /** Events by type, each counted once. */
  events: Record<string, number>;
}

/** The longest that an event is waited for (ms), where a person's press may take longer: an event comes again. */
const MAX_EVENT_ACK_MS = 5_000;

/** How long Slack waits for the acknowledgement (ms). */
export function ackWaitMs({ kind }: Pick<Delivery, 'kind'>, ackTimeoutMs: number): number {
  return kind === 'events_api' ? Math.min(ackTimeoutMs, MAX_EVENT_ACK_MS) : ackTimeoutMs;
}

/** Waits before retries 1, 2 and 3 (ms): none, a minute, five minutes. */
const RETRY_WAITS = [0, 60_000, 300_000];

/** How often what is open is waited for, each time with what began meanwhile. */
const SETTLING_ROUNDS = 10;

/** Slack's outbox: sends each event until it is acknowledged or out of retries. */
export class Deliveries {
  readonly stats: DeliveryStats = { sent: 0, acked: 0, retries: 0, lost: 0, duplicates: 0, events: {} };
  readonly #retryScale: number;
  readonly #closing = new AbortController();
  #transport: DeliveryTransport;
  readonly #listeners = new Set<(payload: Fields) => void>();
  readonly #open = new Set<Promise<unknown>>();

  /** `retryScale` multiplies the waits between retries. */
  constructor(transport: DeliveryTransport, retryScale: number) {
    this.#transport = transport;
    this.#retryScale = retryScale;
  }

  /** Uses another transport for all further attempts. */
  use(transport: DeliveryTransport): void {
    this.#transport = transport;
  }

  /** Loses all further events; the returned function ends that. */
  goDeaf(): () => void {
    return this.#transport.goDeaf();
  }

  /** Adds a listener for each acknowledged event. */
  onAcknowledged(listener: (payload: Fields) => void): void {
    this.#listeners.add(listener);
  }

  /** Sends an event after `afterMs`; `twice` sends it again after its acknowledgement. */
  event(payload: Fields, type: string, afterMs: number, twice: boolean): void {
    this.stats.events[type] = (this.stats.events[type] ?? 0) + 1;
    this.track(async () => {
      if (afterMs > 0) await this.wait(afterMs);
      const acked = await this.#deliverWithRetries(payload);
      if (!acked || !twice) return;
      this.stats.duplicates += 1;
      await this.#attempt({ kind: 'events_api', payload, attempt: 1, reason: 'timeout' });
    });
  }

  /** Sends an interaction, without retries: the person sees an error if the app does not acknowledge it. */
  async interaction(kind: 'interactive' | 'slash_commands', payload: Fields): Promise<DeliveryOutcome> {
    this.stats.sent += 1;
    const outcome = await this.#opened(this.#attempt({ kind, payload, attempt: 0 }));
    if (outcome.acked) this.stats.acked += 1;
    else this.stats.lost += 1;
    return outcome;
  }

  /** Runs work that `settled` waits for. */
  track(work: () => Promise<void>): void {
    const done = work().catch((error: unknown) => {
      if (!this.#closing.signal.aborted) throw error;
    });
    void this.#opened(done);
  }

  /** Waits inside `track`; rejects when the workspace stops. */
  wait(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal: this.#closing.signal });
  }

  /**
   * Resolves when no delivery or tracked work is open. Where others always begin some more, it resolves when what is open now,
   * and what that has led to, has ended.
   */
  async settled(): Promise<void> {
    for (let round = 0; round < SETTLING_ROUNDS && this.#open.size > 0; round += 1)
      await Promise.allSettled(this.#open);
  }

  stop(): void {
    this.#closing.abort();
  }

  async #deliverWithRetries(payload: Fields): Promise<boolean> {
    this.stats.sent += 1;
    let reason: string | undefined;
    for (let attempt = 0; attempt <= RETRY_WAITS.length; attempt += 1) {
      if (attempt > 0) {
        this.stats.retries += 1;
        const wait = (RETRY_WAITS[attempt - 1] ?? 0) * this.#retryScale;
        if (wait > 0) await this.wait(wait);
      }
      const outcome = await this.#attempt({
        kind: 'events_api',
        payload,
        attempt,
        ...(reason === undefined ? {} : { reason }),
      });
      if (outcome.acked) {
        this.stats.acked += 1;
        for (const listener of this.#listeners) listener(payload);
        return true;
      }
      reason = outcome.reason;
      if (outcome.noRetry) break;
    }
    this.stats.lost += 1;
    return false;
  }

  async #attempt(delivery: Delivery): Promise<DeliveryOutcome> {
    this.#closing.signal.throwIfAborted();
    return this.#transport.deliver(delivery);
  }

  #opened<T>(work: Promise<T>): Promise<T> {
    const open = work.finally(() => this.#open.delete(open));
    this.#open.add(open);
    return open;
  }
}
