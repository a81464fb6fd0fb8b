import { setTimeout as pause } from 'node:timers/promises';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ServiceTry } from '../agent/options.ts';
import type { SlackCall } from '../slack/client.ts';
import type { LaneStore } from '../slack/lane-store.ts';
import { type Figures, turnStates } from '../store/figures.ts';
import type { Turn } from '../store/tables.ts';
import type { TurnStep } from '../store/turn-steps.ts';

/** Where figures come from that are asked for only when somebody looks. */
export interface MetricSources {
  /** Counts over all processes. */
  figures(): Promise<Figures>;
  /** Threads that this process holds. */
  held(): number;
  /** The settings whose token or key was refused and is not accepted again yet. */
  refusedCredentials(): readonly string[];
  /** How many tokens and keys that workspaces brought are refused. */
  ownRefused(): { token: number; key: number };
}

/** Whose account at the service: the operator's, or one that a workspace set. */
export type AccountOwner = 'settings' | 'own';

/** The statuses that the service's document names; of others only the class is told, as there are hundreds. */
const toldStatuses = new Set([
  200, 201, 202, 204, 400, 401, 403, 404, 409, 413, 422, 429, 500, 502, 503, 504,
]);

/** Figures of the database are read at most so often (ms), however often they are asked for. */
const figuresMs = 5_000;
/** Whoever scrapes waits for the database at most so long (ms). */
const patienceMs = 3_000;
const quick = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3];
const short = [0.25, 0.5, 1, 2, 3, 5, 10, 20, 30, 60, 120];
const long = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600];

/** What /metrics tells. No label names a workspace, a person or a thread: their number has no bound. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #sources: MetricSources;
  #figures: { at: number; read: Promise<Figures | undefined> } | undefined;

  readonly #events = this.#counter('events_total', 'Events from Slack', ['kind', 'outcome']);
  readonly #eventSeconds = this.#histogram(
    'event_seconds',
    'From the receipt of an event until it may be acknowledged',
    quick,
    ['kind'],
  );
  readonly #ended = this.#counter('turns_ended_total', 'Turns that are finished', ['outcome']);
  readonly #visible = this.#histogram(
    'first_visible_seconds',
    'From a message in Slack to the first reply that people see',
    short,
  );
  readonly #done = this.#histogram('turn_seconds', 'From a message in Slack to the end of its turn', long, [
    'outcome',
  ]);
  readonly #permits = this.#counter('slack_permits_total', 'Asks for a permit of a lane', [
    'lane',
    'outcome',
  ]);
  readonly #unseen = this.#histogram(
    'unseen_text_seconds',
    'Age of the oldest text that an edit shows',
    short,
  );
  readonly #slackCalls = this.#counter('slack_calls_total', 'Calls to Slack', ['method', 'outcome']);
  readonly #slackSeconds = this.#histogram('slack_call_seconds', 'Calls to Slack', quick, ['method']);
  readonly #throttled = this.#counter('slack_throttled_total', "Slack's 429s", ['method']);
  readonly #serviceCalls = this.#counter('service_calls_total', 'Tries of calls to the agent service', [
    'endpoint',
    'status',
    'account',
  ]);
  readonly #serviceSeconds = this.#histogram('service_call_seconds', 'Calls to the agent service', short, [
    'endpoint',
    'account',
  ]);
  readonly #serviceRetries = this.#counter('service_retries_total', 'Tries after the first', [
    'endpoint',
    'account',
  ]);
  readonly #bytes = this.#counter('http_bytes_total', 'Bytes of bodies, by the other side', [
    'peer',
    'direction',
  ]);

  constructor(sources: MetricSources) {
    this.#sources = sources;
    collectDefaultMetrics({ register: this.#registry });
    this.#gauge('threads_held', 'Threads that this process works on', [], (gauge) =>
      gauge.set(this.#sources.held()),
    );
    this.#gauge('credential_refused', 'A setting that is not accepted', ['setting'], (gauge) => {
      gauge.reset();
      for (const setting of this.#sources.refusedCredentials()) gauge.set({ setting }, 1);
    });
    this.#gauge(
      'own_credentials_refused',
      'Tokens and keys of workspaces that are not accepted',
      ['kind'],
      (gauge) => {
        const { token, key } = this.#sources.ownRefused();
        gauge.set({ kind: 'token' }, token);
        gauge.set({ kind: 'key' }, key);
      },
    );
    this.#gauge('database_up', 'Whether the figures over all processes could be read', [], async (gauge) =>
      gauge.set((await this.#read()) === undefined ? 0 : 1),
    );
    this.#figure(
      'messages_waiting',
      'Messages that wait their turn, over all processes',
      [],
      (gauge, { waiting }) => gauge.set(waiting),
    );
    this.#figure(
      'oldest_waiting_seconds',
      'Age of the oldest of them',
      [],
      (gauge, { oldestWaitingSeconds }) => gauge.set(oldestWaitingSeconds),
    );
    this.#figure(
      'feedback',
      'Thumbs of people that are kept, over all processes',
      ['thumb'],
      (gauge, { feedback }) => {
        gauge.set({ thumb: 'good' }, feedback.good);
        gauge.set({ thumb: 'bad' }, feedback.bad);
      },
    );
    this.#figure(
      'turns',
      'Turns that are not finished, over all processes',
      ['state'],
      (gauge, { turns }) => {
        for (const state of turnStates) gauge.set({ state }, turns[state] ?? 0);
      },
    );
  }

  /** What a scrape gets; without the figures of the database where that does not answer. */
  async page(): Promise<{ type: string; text: string }> {
    return { type: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** An event from Slack, and after how many `ms` it may be acknowledged. */
  event({ kind, outcome, ms }: { kind: string; outcome: string; ms: number }): void {
    this.#events.inc({ kind, outcome });
    this.#eventSeconds.observe({ kind }, ms / 1_000);
  }

  step(turn: Turn, step: TurnStep): void {
    // People count from when they wrote, and Slack's ts says when that was.
    const seconds = Math.max(0, Date.now() / 1_000 - Number(turn.message_ts));
    if (step === 'visible') this.#visible.observe(seconds);
    if (step !== 'finished') return;
    const outcome = turn.outcome ?? 'unknown';
    this.#ended.inc({ outcome });
    this.#done.observe({ outcome }, seconds);
  }

  slackCall({ method, outcome, ms }: SlackCall): void {
    this.#slackCalls.inc({ method, outcome });
    this.#slackSeconds.observe({ method }, ms / 1_000);
    if (outcome === 'throttled') this.#throttled.inc({ method });
  }

  /** `unseenMs`: how old the oldest text is that an edit shows first. */
  edit(unseenMs: number): void {
    this.#unseen.observe(Math.max(0, unseenMs) / 1_000);
  }

  serviceTry({ call: endpoint, status, attempt, ms }: ServiceTry, account: AccountOwner): void {
    this.#serviceCalls.inc({ endpoint, status: statusLabel(status), account });
    this.#serviceSeconds.observe({ endpoint, account }, ms / 1_000);
    if (attempt > 1) this.#serviceRetries.inc({ endpoint, account });
  }

  /** A piece of a body went to `peer`, or came from there. */
  bytes(peer: string, direction: 'up' | 'down', count: number): void {
    this.#bytes.inc({ peer, direction }, count);
  }

  /** Counts which permits the lanes grant; lanes of single channels count as one. */
  countedLanes(lanes: LaneStore): LaneStore {
    return {
      take: async (workspace, lane, rule) => {
        const waitMs = await lanes.take(workspace, lane, rule);
        const [name = lane] = lane.split('/');
        this.#permits.inc({ lane: name, outcome: waitMs === 0 ? 'granted' : 'refused' });
        return waitMs;
      },
      hold: (workspace, lane, ms) => lanes.hold(workspace, lane, ms),
    };
  }

  /** Undefined where the database does not answer, or not in time. */
  #read(): Promise<Figures | undefined> {
    const now = performance.now();
    if (this.#figures === undefined || now - this.#figures.at > figuresMs) {
      const late = pause(patienceMs, undefined, { ref: false });
      const read = Promise.race([this.#sources.figures().catch(() => undefined), late]);
      this.#figures = { at: now, read };
    }
    return this.#figures.read;
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

  /** A figure of the database, which is left out where that does not answer: the last one says nothing of now. */
  #figure<Label extends string>(
    name: string,
    help: string,
    labelNames: Label[],
    set: (gauge: Gauge<Label>, figures: Figures) => void,
  ): void {
    this.#gauge(name, help, labelNames, async (gauge) => {
      const figures = await this.#read();
      gauge.reset();
      if (figures !== undefined) set(gauge, figures);
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
  return toldStatuses.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}
