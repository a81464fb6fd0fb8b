import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { z } from 'zod';
import type { CallAttempt } from '../agent/client-options.ts';
import { within } from '../calls/retries-and-waits.ts';
import type { EventKind, EventOutcome } from '../relay/runtime/incoming-message.ts';
import type { PermitStore } from '../slack/permit-queue.ts';
import type { SlackCallRecord } from '../slack/slack-client.ts';
import { JOB_KIND } from '../store/jobs/jobs.ts';
import type { Turn } from '../store/schema.ts';
import type { Stats } from '../store/stats.ts';
import { TURN_STATES, type TurnStep } from '../store/threads/turn-steps.ts';

type MetricName = keyof typeof metricHelp;

/** Values that are read only on a scrape. */
export interface MetricSources {
  /** Counts over all processes. */
  stats(): Promise<Stats>;
  heldThreads(): number;
  rejectedSettings(): readonly string[];
  /** Workspaces whose events do not arrive, as far as this process knows. */
  deafWorkspaces(): number;
  rejectedWorkspaceCredentials(): { token: number; key: number };
  /** Socket Mode connections of this process; undefined with events by HTTP. */
  slackConnections(): { live: number; allowed: number } | undefined;
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

let processFigures: Registry | undefined;

/** Figures of the process itself, from the first scrape on: what measures them never ends, so there is one for all apps. */
function processRegistry(): Registry {
  if (processFigures === undefined) {
    processFigures = new Registry();
    collectDefaultMetrics({ register: processFigures });
  }
  return processFigures;
}

const packageSchema = z.looseObject({ version: z.string() });

/** The release that runs; the image has the package's file beside its code, as a clone does. */
function readVersion(): string {
  const file = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return packageSchema.parse(JSON.parse(file)).version;
}

/** The metrics. No label names a workspace, a person or a thread, because their number is unbounded. */
export class Metrics {
  readonly #registry = new Registry();
  #stats: { at: number; read: Promise<Stats | undefined> } | undefined;

  readonly #events = this.#counter('events_total', ['kind', 'outcome']);
  readonly #eventSeconds = this.#histogram('event_seconds', FAST_BUCKETS, ['kind']);
  readonly #turnsEnded = this.#counter('turns_ended_total', ['outcome']);
  readonly #firstVisibleSeconds = this.#histogram('first_visible_seconds', MEDIUM_BUCKETS);
  readonly #turnSeconds = this.#histogram('turn_seconds', SLOW_BUCKETS, ['outcome']);
  readonly #permits = this.#counter('slack_permits_total', ['limit', 'outcome']);
  readonly #unseenTextSeconds = this.#histogram('unseen_text_seconds', MEDIUM_BUCKETS);
  readonly #slackCalls = this.#counter('slack_calls_total', ['method', 'outcome']);
  readonly #slackSeconds = this.#histogram('slack_call_seconds', FAST_BUCKETS, ['method']);
  readonly #slackThrottled = this.#counter('slack_throttled_total', ['method']);
  readonly #refusedBlocks = this.#counter('degraded_sends_total', ['block']);
  readonly #jobs = this.#counter('jobs_total', ['kind', 'outcome']);
  readonly #retentionFailures = this.#counter('retention_failures_total', ['step']);
  readonly #serviceCalls = this.#counter('service_calls_total', ['endpoint', 'status', 'account']);
  readonly #serviceSeconds = this.#histogram('service_call_seconds', MEDIUM_BUCKETS, ['endpoint', 'account']);
  readonly #serviceRetries = this.#counter('service_retries_total', ['endpoint', 'account']);

  constructor() {
    const version = readVersion();
    this.#gauge('build_info', ['version'], (gauge) => gauge.set({ version }, 1));
  }

  /** Adds the figures that are read on a scrape. */
  watch(sources: MetricSources): this {
    this.#gauge('threads_held', [], (gauge) => gauge.set(sources.heldThreads()));
    this.#gauge('credential_refused', ['setting'], (gauge) => {
      gauge.reset();
      for (const setting of sources.rejectedSettings()) gauge.set({ setting }, 1);
    });
    this.#gauge('own_credentials_refused', ['kind'], (gauge) => {
      const { token, key } = sources.rejectedWorkspaceCredentials();
      gauge.set({ kind: 'token' }, token);
      gauge.set({ kind: 'key' }, key);
    });
    this.#gauge('deaf_workspaces', [], (gauge) => gauge.set(sources.deafWorkspaces()));
    this.#gauge('slack_connections', [], (gauge) => gauge.set(sources.slackConnections()?.live ?? 0));
    this.#gauge('slack_connections_allowed', [], (gauge) =>
      gauge.set(sources.slackConnections()?.allowed ?? 0),
    );
    this.#gauge('database_up', [], async (gauge) =>
      gauge.set((await this.#readStats(sources)) === undefined ? 0 : 1),
    );
    this.#statsGauge(sources, 'messages_waiting', [], (gauge, { waiting }) => gauge.set(waiting));
    this.#statsGauge(sources, 'oldest_waiting_seconds', [], (gauge, { oldestWaitingSeconds }) =>
      gauge.set(oldestWaitingSeconds),
    );
    this.#statsGauge(sources, 'feedback', ['thumb'], (gauge, { feedback }) => {
      gauge.set({ thumb: 'good' }, feedback.good);
      gauge.set({ thumb: 'bad' }, feedback.bad);
    });
    this.#statsGauge(sources, 'turns', ['state'], (gauge, { turns }) => {
      for (const state of TURN_STATES) gauge.set({ state }, turns[state] ?? 0);
    });
    return this;
  }

  /** The body of /metrics; without the figures from the database if that does not answer. */
  async scrape(): Promise<{ type: string; text: string }> {
    const all = Registry.merge([processRegistry(), this.#registry]);
    return { type: all.contentType, text: await all.metrics() };
  }

  /** An event from Slack; `ms` until it may be acknowledged. */
  event({ kind, outcome, ms }: { kind: EventKind; outcome: EventOutcome; ms: number }): void {
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

  readonly onJobRun = (kind: string, outcome: string): void => this.#jobs.inc({ kind, outcome });

  readonly onRetentionFailed = (step: string): void => this.#retentionFailures.inc({ step });

  serviceAttempt({ call: endpoint, status, attempt, durationMs }: CallAttempt, account: AccountOwner): void {
    this.#serviceCalls.inc({ endpoint, status: statusLabel(status), account });
    this.#serviceSeconds.observe({ endpoint, account }, durationMs / 1_000);
    if (attempt > 1) this.#serviceRetries.inc({ endpoint, account });
  }

  /** Counts the permits that the rate limits grant; limits of single channels count as one. */
  withPermitMetrics(permits: PermitStore): PermitStore {
    return {
      take: async (workspace, limitKey, rule) => {
        const waitMs = await permits.take(workspace, limitKey, rule);
        const [name = limitKey] = limitKey.split('/');
        this.#permits.inc({ limit: name, outcome: waitMs === 0 ? 'granted' : 'refused' });
        return waitMs;
      },
      pause: (workspace, limitKey, ms) => permits.pause(workspace, limitKey, ms),
    };
  }

  /** Undefined if the database does not answer in time. */
  #readStats(sources: MetricSources): Promise<Stats | undefined> {
    const now = performance.now();
    if (this.#stats === undefined || now - this.#stats.at > STATS_TTL_MS) {
      const read = within(
        STATS_TIMEOUT_MS,
        sources.stats().catch(() => undefined),
        undefined,
      );
      this.#stats = { at: now, read };
    }
    return this.#stats.read;
  }

  #counter<Label extends string>(name: MetricName, labelNames: Label[]): Counter<Label> {
    return new Counter(this.#describe(name, labelNames));
  }

  #histogram<Label extends string>(name: MetricName, buckets: number[], labelNames: Label[] = []) {
    return new Histogram({ ...this.#describe(name, labelNames), buckets });
  }

  /** A figure from the database; left out if that does not answer, rather than stale. */
  #statsGauge<Label extends string>(
    sources: MetricSources,
    name: MetricName,
    labelNames: Label[],
    set: (gauge: Gauge<Label>, stats: Stats) => void,
  ): void {
    this.#gauge(name, labelNames, async (gauge) => {
      const stats = await this.#readStats(sources);
      gauge.reset();
      if (stats !== undefined) set(gauge, stats);
      else if (labelNames.length === 0) gauge.remove();
    });
  }

  #gauge<Label extends string>(
    name: MetricName,
    labelNames: Label[],
    set: (gauge: Gauge<Label>) => void | Promise<void>,
  ): void {
    new Gauge({
      ...this.#describe(name, labelNames),
      async collect() {
        await set(this);
      },
    });
  }

  #describe<Label extends string>(name: MetricName, labelNames: Label[]) {
    return { name: `taskthread_${name}`, help: metricHelp[name], labelNames, registers: [this.#registry] };
  }
}

function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return REPORTED_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}

const EVENT_KIND =
  'kind: message, edit, deletion, renaming, move, channel_deletion, joining, ' +
  "stop (a stop reaction or Slack's stop), step (of a workflow), other";
const EVENT_OUTCOME =
  'outcome: admitted, known (seen before), orphan (between people), unsent (between people), ' +
  'closed (where the bot does not answer), stop_said, reworded, withdrawn, too_late (already sent), renamed, moved, ' +
  'settings_deleted (of a deleted channel), joined, ignored (not for the bot), recorded (a step), not_installed, ' +
  'uninstalled, failed (not recorded); of a stop: done, stopping, over, running, refused, unknown, nothing';
const TURN_OUTCOME =
  'outcome: completed, length (cut off by the service), cancelled (stopped), failed, refused (by the service), ' +
  'withdrawn (deleted), helped (only help was asked for), kept (files without words), abandoned (tried too often)';
const METHOD = "method: Slack's name";
const CALL = 'endpoint: method and path; account: settings, own (that of a workspace)';

/** What each metric says, and what the values of its labels are. */
const metricHelp = {
  build_info: 'Always 1; version: the release that runs',
  events_total: `Events from Slack; ${EVENT_KIND}; ${EVENT_OUTCOME}`,
  event_seconds: `Time from the arrival of an event until it may be acknowledged; ${EVENT_KIND}`,
  turns_ended_total: `Finished turns; ${TURN_OUTCOME}`,
  turn_seconds: `Time from a message in Slack to the end of its turn; ${TURN_OUTCOME}`,
  first_visible_seconds: 'Time from a message in Slack to the first reply that people see',
  unseen_text_seconds: 'Age of the oldest text that an edit first shows',
  slack_permits_total:
    "Requests for a rate limit permit; limit: Slack's method, or its limit in each channel; " +
    'outcome: granted, refused (requested again later)',
  slack_calls_total:
    `Calls to Slack; ${METHOD}; outcome: ok, throttled, unavailable, unauthorized, channel_gone, message_gone, ` +
    'payload_refused, refused (for another reason), lease_ended (another process does it)',
  slack_call_seconds: `Duration of calls to Slack; ${METHOD}`,
  slack_throttled_total: `Slack's rate limit responses (429); ${METHOD}`,
  degraded_sends_total:
    'Messages sent again without a block that Slack refused; the workspace gets none for 6 hours; ' +
    'block: plan, data_table, context_actions (thumbs)',
  jobs_total:
    `Runs of jobs that are done later; kind: ${Object.values(JOB_KIND).join(', ')}; ` +
    'outcome: done, again (it made progress), failed (tried again later), given_up (tried for too long)',
  retention_failures_total:
    'Failed steps of the deletion of expired rows, each tried again after a minute; step: what it deletes',
  service_calls_total: `Attempts of calls to the agent service; status: of HTTP, 4xx for a rare one, or none; ${CALL}`,
  service_call_seconds: `Duration of calls to the agent service; ${CALL}`,
  service_retries_total: `Attempts after the first; ${CALL}`,
  threads_held: 'Threads that this process works on',
  credential_refused: '1 for each setting whose token or key is rejected; setting: its name',
  own_credentials_refused:
    'Rejected credentials of workspaces, and tokens that cannot be decrypted; kind: token, key',
  deaf_workspaces: 'Workspaces whose posts do not come back as events',
  slack_connections: 'Open Socket Mode connections of this process; 0 with events by HTTP',
  slack_connections_allowed: 'Socket Mode connections that this process is to open; 0 with events by HTTP',
  database_up: '1 if the figures from the database could be read, else 0',
  messages_waiting: 'Messages waiting for their turn, over all processes',
  oldest_waiting_seconds: 'Age of the oldest waiting message',
  feedback: 'Thumbs of the last 24 hours; thumb: good, bad',
  turns: `Unfinished turns, over all processes; state: ${TURN_STATES.join(', ')}`,
};
