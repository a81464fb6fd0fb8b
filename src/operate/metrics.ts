import { setTimeout as pause } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CallAttempt } from '../agent/client-options.ts';
import type { PermitStore } from '../slack/permit-queue.ts';
import type { SlackCallRecord } from '../slack/slack-client.ts';
import type { Turn } from '../store/schema.ts';
import type { Stats } from '../store/stats.ts';
import type { TurnStep } from '../store/threads/turn-steps.ts';
import { TURN_STATES } from '../store/threads/turn-steps.ts';

/** Values that are read only on a scrape. */
export interface MetricSources {
  /** Counts over all processes. */
  stats(): Promise<Stats>;
  /** Threads that this process works on. */
  heldThreads(): number;
  /** The settings whose token or key is rejected. */
  rejectedSettings(): readonly string[];
  /** Workspaces whose events do not arrive, as far as this process knows. */
  deafWorkspaces(): number;
  /** How many of the workspaces' own tokens and keys are rejected. */
  rejectedWorkspaceCredentials(): { token: number; key: number };
}

/** Whose service account: the one of the settings, or a workspace's own. */
export type AccountOwner = 'settings' | 'own';

/** The statuses that the service documents; others are reported by class (4xx), because there are hundreds. */
const REPORTED_STATUSES = new Set([
  200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504,
]);

/** How long figures from the database are cached (ms). */
const STATS_TTL_MS = 5_000;
/** The longest that a scrape waits for the database (ms). */
const STATS_TIMEOUT_MS = 3_000;
const FAST_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const MEDIUM_BUCKETS = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120];
const SLOW_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600];

/** The metrics. No label names a workspace, a person or a thread, because their number is unbounded. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #sources: MetricSources;
  #stats: { at: number; read: Promise<Stats | undefined> } | undefined;

  readonly #events = this.#counter('events_total', 'Events from Slack', ['kind', 'outcome']);
  readonly #eventSeconds = this.#histogram(
    'event_seconds',
    'From the arrival of an event until it may be acknowledged',
    FAST_BUCKETS,
    ['kind'],
  );
  readonly #turnsEnded = this.#counter('turns_ended_total', 'Finished turns', ['outcome']);
  readonly #firstVisibleSeconds = this.#histogram(
    'first_visible_seconds',
    'From a message in Slack to the first reply that people see',
    MEDIUM_BUCKETS,
  );
  readonly #turnSeconds = this.#histogram(
    'turn_seconds',
    'From a message in Slack to the end of its turn',
    SLOW_BUCKETS,
    ['outcome'],
  );
  readonly #permits = this.#counter('slack_permits_total', 'Requests for a rate limit permit', [
    'lane',
    'outcome',
  ]);
  readonly #unseenTextSeconds = this.#histogram(
    'unseen_text_seconds',
    'Age of the oldest text that an edit first shows',
    MEDIUM_BUCKETS,
  );
  readonly #slackCalls = this.#counter('slack_calls_total', 'Calls to Slack', ['method', 'outcome']);
  readonly #slackSeconds = this.#histogram('slack_call_seconds', 'Calls to Slack', FAST_BUCKETS, ['method']);
  readonly #slackThrottled = this.#counter('slack_throttled_total', "Slack's rate limit responses (429)", [
    'method',
  ]);
  readonly #refusedBlocks = this.#counter(
    'degraded_sends_total',
    'Messages sent again without a block that Slack refused; it is then left out in the workspace for 6 hours',
    ['block'],
  );
  readonly #serviceCalls = this.#counter('service_calls_total', 'Attempts of calls to the agent service', [
    'endpoint',
    'status',
    'account',
  ]);
  readonly #serviceSeconds = this.#histogram(
    'service_call_seconds',
    'Calls to the agent service',
    MEDIUM_BUCKETS,
    ['endpoint', 'account'],
  );
  readonly #serviceRetries = this.#counter('service_retries_total', 'Attempts after the first', [
    'endpoint',
    'account',
  ]);
  readonly #bytes = this.#counter('http_bytes_total', 'Bytes of request and response bodies, by peer', [
    'peer',
    'direction',
  ]);

  constructor(sources: MetricSources) {
    this.#sources = sources;
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('threads_held', 'Threads that this process works on', [], (gauge) =>
      gauge.set(this.#sources.heldThreads()),
    );
    this.#gauge('credential_refused', 'Settings whose credential is rejected', ['setting'], (gauge) => {
      gauge.reset();
      for (const setting of this.#sources.rejectedSettings()) gauge.set({ setting }, 1);
    });
    this.#gauge('own_credentials_refused', 'Rejected tokens and keys of workspaces', ['kind'], (gauge) => {
      const { token, key } = this.#sources.rejectedWorkspaceCredentials();
      gauge.set({ kind: 'token' }, token);
      gauge.set({ kind: 'key' }, key);
    });
    this.#gauge('deaf_workspaces', 'Workspaces whose posts do not come back as events', [], (gauge) =>
      gauge.set(this.#sources.deafWorkspaces()),
    );
    this.#gauge('database_up', 'Whether the figures from the database could be read', [], async (gauge) =>
      gauge.set((await this.#readStats()) === undefined ? 0 : 1),
    );
    this.#statsGauge(
      'messages_waiting',
      'Messages waiting for their turn, over all processes',
      [],
      (gauge, { waiting }) => gauge.set(waiting),
    );
    this.#statsGauge(
      'oldest_waiting_seconds',
      'Age of the oldest waiting message',
      [],
      (gauge, { oldestWaitingSeconds }) => gauge.set(oldestWaitingSeconds),
    );
    this.#statsGauge('feedback', 'Thumbs of the last 24 hours', ['thumb'], (gauge, { feedback }) => {
      gauge.set({ thumb: 'good' }, feedback.good);
      gauge.set({ thumb: 'bad' }, feedback.bad);
    });
    this.#statsGauge('turns', 'Unfinished turns, over all processes', ['state'], (gauge, { turns }) => {
      for (const state of TURN_STATES) gauge.set({ state }, turns[state] ?? 0);
    });
  }

  /** The body of /metrics; without the figures from the database if that does not answer. */
  async scrape(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** An event from Slack; `ms` until it may be acknowledged. */
  event({ kind, outcome, ms }: { kind: string; outcome: string; ms: number }): void {
    this.#events.inc({ kind, outcome });
    this.#eventSeconds.observe({ kind }, ms / 1_000);
  }

  step(turn: Turn, step: TurnStep): void {
    // Measured from when the person wrote, which is the message's ts.
    const seconds = Math.max(0, Date.now() / 1_000 - Number(turn.message_ts));
    if (step === 'visible') this.#firstVisibleSeconds.observe(seconds);
    if (step !== 'finished') return;
    const outcome = turn.outcome ?? 'unknown';
    this.#turnsEnded.inc({ outcome });
    this.#turnSeconds.observe({ outcome }, seconds);
  }

  readonly onSlackCall = ({ method, outcome, durationMs }: SlackCallRecord): void => {
    this.#slackCalls.inc({ method, outcome });
    this.#slackSeconds.observe({ method }, durationMs / 1_000);
    if (outcome === 'throttled') this.#slackThrottled.inc({ method });
  };

  /** `unseenMs`: the age of the oldest text that an edit first shows. */
  readonly onSlackEdit = (unseenMs: number): void =>
    this.#unseenTextSeconds.observe(Math.max(0, unseenMs) / 1_000);

  readonly onBlockRefused = (block: string): void => this.#refusedBlocks.inc({ block });

  serviceAttempt({ call: endpoint, status, attempt, durationMs }: CallAttempt, account: AccountOwner): void {
    this.#serviceCalls.inc({ endpoint, status: statusLabel(status), account });
    this.#serviceSeconds.observe({ endpoint, account }, durationMs / 1_000);
    if (attempt > 1) this.#serviceRetries.inc({ endpoint, account });
  }

  /** Bytes of a body that went to `peer` or came from there. */
  bytes(peer: string, direction: 'up' | 'down', count: number): void {
    this.#bytes.inc({ peer, direction }, count);
  }

  /** Counts the permits that the rate limits grant; limits of single channels count as one. */
  withPermitMetrics(permits: PermitStore): PermitStore {
    return {
      take: async (workspace, lane, rule) => {
        const waitMs = await permits.take(workspace, lane, rule);
        const [name = lane] = lane.split('/');
        this.#permits.inc({ lane: name, outcome: waitMs === 0 ? 'granted' : 'refused' });
        return waitMs;
      },
      pause: (workspace, lane, ms) => permits.pause(workspace, lane, ms),
    };
  }

  /** Undefined if the database does not answer in time. */
  #readStats(): Promise<Stats | undefined> {
    const now = performance.now();
    if (this.#stats === undefined || now - this.#stats.at > STATS_TTL_MS) {
      const late = pause(STATS_TIMEOUT_MS, undefined, { ref: false });
      const read = Promise.race([this.#sources.stats().catch(() => undefined), late]);
      this.#stats = { at: now, read };
    }
    return this.#stats.read;
  }

  #counter<Label extends string>(name: string, help: string, labelNames: Label[]): Counter<Label> {
    return new Counter({ name: `taskthread_${name}`, help, labelNames, registers: [this.#registry] });
  }

  #histogram<Label extends string>(
    name: string,
    help: string,
    buckets: number[],
    labelNames: Label[] = [],
  ): Histogram<Label> {
    return new Histogram({
      name: `taskthread_${name}`,
      help: `${help}, in seconds`,
      buckets,
      labelNames,
      registers: [this.#registry],
    });
  }

  /** A figure from the database; left out if that does not answer, rather than stale. */
  #statsGauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    set: (gauge: Gauge<Label>, stats: Stats) => void,
  ): void {
    this.#gauge(name, help, labelNames, async (gauge) => {
      const stats = await this.#readStats();
      gauge.reset();
      if (stats !== undefined) set(gauge, stats);
      else if (labelNames.length === 0) gauge.remove();
    });
  }

  #gauge<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    set: (gauge: Gauge<Label>) => void | Promise<void>,
  ): void {
    new Gauge({
      name: `taskthread_${name}`,
      help,
      labelNames,
      registers: [this.#registry],
      async collect() {
        await set(this);
      },
    });
  }
}

function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return REPORTED_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}
