import { totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Logger } from 'pino';
import packageFile from '../../package.json' with { type: 'json' };
import type { ProbeResult } from '../agent/account-probe.ts';
import type { CallAttempt } from '../agent/client-options.ts';
import { within } from '../calls/retries-and-waits.ts';
import type { EventKind, EventOutcome } from '../relay/runtime/incoming-message.ts';
import type { PermitStore } from '../slack/permit-queue.ts';
import type { SlackCallRecord } from '../slack/slack-client.ts';
import type { Turn } from '../store/schema.ts';
import type { Stats } from '../store/stats.ts';
import { PHASES } from '../store/threads/turn-phase.ts';
import type { OnStep, TurnStep } from '../store/threads/turn-steps.ts';
import { Metrics } from './metrics.ts';

/** Values that are read only when somebody asks. */
export interface TelemetrySources {
  /** Counts over all processes. */
  stats(): Promise<Stats>;
  /** What the quotas leave whom they leave least, by whose they are: of a person, of a workspace. */
  messagesLeft(begun: Stats['begun']): Record<string, number>;
  /** The largest file that goes to the service, in bytes. */
  largestFile: number;
  /** Why nothing can be recorded now; undefined if it can. */
  findTrouble(): Promise<string | undefined>;
  heldThreads(): number;
  rejectedSettings(): readonly string[];
  /** Workspaces whose events do not arrive, as far as this process knows. */
  deafWorkspaces(): number;
  rejectedWorkspaceCredentials(): { token: number; key: number };
  /** The scopes that the app lacks, as far as Slack has told this process: as often as workspaces lack them. */
  missingScopes(): readonly string[];
  /** Socket Mode connections of this process; undefined with events by HTTP. */
  slackConnections(): { live: number; allowed: number } | undefined;
}

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
const SLOW_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400, 259_200];

/** Feeds the hooks of the parts below to the metrics, to /readyz and to the log lines of turn steps. */
export class Telemetry {
  readonly #log: Logger;
  readonly #metrics = new Metrics();
  #sources: TelemetrySources | undefined;
  #stats: { at: number; read: Promise<Stats | undefined> } | undefined;
  #lastEventAt: Date | undefined;
  /** The last attempt of a call to the service of the settings; `status` is undefined if there was no response. */
  #lastAttempt: Pick<CallAttempt, 'status' | 'durationMs'> | undefined;
  #lastAnswerAt: Date | undefined;
  /** When Slack last limited each method, and when a request to us was last rejected for each reason. */
  readonly #throttledAt: Record<string, Date> = {};
  readonly #requestsRejectedAt: Record<string, Date> = {};
  /** False if the address was found to accept any key; until a call succeeds there. */
  #isService = true;

  readonly #requestsRejected = this.#metrics.counter('requests_rejected_total', ['reason']);
  readonly #events = this.#metrics.counter('events_total', ['kind', 'outcome']);
  readonly #eventSeconds = this.#metrics.histogram('event_seconds', FAST_BUCKETS, ['kind']);
  readonly #turnsEnded = this.#metrics.counter('turns_ended_total', ['outcome']);
  readonly #firstVisibleSeconds = this.#metrics.histogram('first_visible_seconds', MEDIUM_BUCKETS);
  readonly #turnSeconds = this.#metrics.histogram('turn_seconds', SLOW_BUCKETS, ['outcome']);
  readonly #permits = this.#metrics.counter('slack_permits_total', ['limit', 'outcome']);
  readonly #unseenTextSeconds = this.#metrics.histogram('unseen_text_seconds', MEDIUM_BUCKETS);
  readonly #slackCalls = this.#metrics.counter('slack_calls_total', ['method', 'outcome']);
  readonly #slackSeconds = this.#metrics.histogram('slack_call_seconds', FAST_BUCKETS, ['method']);
  readonly #slackThrottled = this.#metrics.counter('slack_throttled_total', ['method']);
  readonly #refusedBlocks = this.#metrics.counter('degraded_sends_total', ['block']);
  readonly #jobs = this.#metrics.counter('jobs_total', ['kind', 'outcome']);
  readonly #retentionFailures = this.#metrics.counter('retention_failures_total', ['step']);
  readonly #serviceCalls = this.#metrics.counter('service_calls_total', ['endpoint', 'status', 'account']);
  readonly #serviceSeconds = this.#metrics.histogram('service_call_seconds', MEDIUM_BUCKETS, [
    'endpoint',
    'account',
  ]);
  readonly #serviceRetries = this.#metrics.counter('service_retries_total', ['endpoint', 'account']);

  /** `droppedLines`: how many lines the log has lost. */
  constructor(log: Logger, droppedLines: () => number = () => 0) {
    this.#log = log;
    this.#metrics.count('log_lines_dropped_total', droppedLines);
    const { version } = packageFile;
    this.#metrics.gauge('build_info', () => countsOf([version]), 'version');
    this.#metrics.gauge('memory_limit_bytes', readMemoryLimits, 'of');
  }

  /** Adds what is read when somebody asks. */
  watch(sources: TelemetrySources): this {
    this.#sources = sources;
    const metrics = this.#metrics;
    const stats = () => this.#readStats(sources);
    metrics.gauge('threads_held', () => sources.heldThreads());
    metrics.gauge('credential_refused', () => countsOf(sources.rejectedSettings()), 'setting');
    metrics.gauge('own_credentials_refused', () => sources.rejectedWorkspaceCredentials(), 'kind');
    metrics.gauge('missing_scopes', () => countsOf(sources.missingScopes()), 'scope');
    metrics.gauge('deaf_workspaces', () => sources.deafWorkspaces());
    metrics.gauge('slack_connections', () => sources.slackConnections()?.live ?? 0);
    metrics.gauge('slack_connections_allowed', () => sources.slackConnections()?.allowed ?? 0);
    const isUp = async () => (await sources.findTrouble()) === undefined && (await stats()) !== undefined;
    metrics.gauge('database_up', async () => ((await isUp()) ? 1 : 0));
    metrics.gauge('messages_waiting', async () => (await stats())?.waiting);
    metrics.gauge('oldest_waiting_seconds', async () => (await stats())?.oldestWaitingSeconds);
    metrics.gauge('token_renewals', async () => (await stats())?.renewals, 'state');
    metrics.gauge('feedback', async () => (await stats())?.feedback, 'thumb');
    const left = ({ begun }: Stats) => sources.messagesLeft(begun);
    metrics.gauge('quota_messages_left', () => stats().then((read) => read && left(read)), 'of');
    metrics.gauge('file_limit_bytes', () => sources.largestFile);
    const byState = ({ turns }: Stats) =>
      Object.fromEntries(PHASES.map((state) => [state, turns[state] ?? 0]));
    metrics.gauge('turns', async () => await stats().then((read) => read && byState(read)), 'state');
    return this;
  }

  /** The body of /metrics; without the figures from the database if that does not answer. */
  scrape(): Promise<{ type: string; text: string }> {
    return this.#metrics.scrape();
  }

  readonly onTurnStep: OnStep = (turn, step, task) => {
    logStep(this.#log, turn, step, task);
    // Measured from when the person wrote, which is the message's ts.
    const secondsUntil = (at = new Date()) => Math.max(0, at.getTime() / 1_000 - Number(turn.message_ts));
    if (step === 'visible')
      this.#firstVisibleSeconds.observe(secondsUntil(turn.first_visible_at ?? undefined));
    if (step !== 'finished') return;
    const outcome = turn.outcome ?? 'unknown';
    this.#turnsEnded.inc({ outcome });
    this.#turnSeconds.observe({ outcome }, secondsUntil());
  };

  /** An event from Slack; `ms` until it may be acknowledged. */
  readonly onEventHandled = (event: { kind: EventKind; outcome: EventOutcome; ms: number }): void => {
    const { kind, outcome, ms } = event;
    this.#lastEventAt = new Date();
    this.#events.inc({ kind, outcome });
    this.#eventSeconds.observe({ kind }, ms / 1_000);
  };

  readonly onSlackCall = ({ method, outcome, durationMs }: SlackCallRecord): void => {
    this.#slackCalls.inc({ method, outcome });
    this.#slackSeconds.observe({ method }, durationMs / 1_000);
    if (outcome !== 'throttled') return;
    this.#throttledAt[method] = new Date();
    this.#slackThrottled.inc({ method });
  };

  readonly onRequestRejected = (reason: string): void => {
    this.#requestsRejectedAt[reason] = new Date();
    this.#requestsRejected.inc({ reason });
  };

  /** `unseenMs`: the age of the oldest text that an edit first shows. */
  readonly onSlackEdit = (unseenMs: number): void =>
    this.#unseenTextSeconds.observe(Math.max(0, unseenMs) / 1_000);

  readonly onBlockRefused = (block: string): void => this.#refusedBlocks.inc({ block });

  readonly onJobRun = (kind: string, outcome: string): void => this.#jobs.inc({ kind, outcome });

  readonly onRetentionFailed = (step: string): void => this.#retentionFailures.inc({ step });

  /** An attempt of a call to the service of the settings. */
  readonly onServiceAttempt = (attempt: CallAttempt): void => {
    this.#lastAttempt = attempt;
    if (attempt.status !== undefined && attempt.status < 300) this.#isService = true;
    if (this.#doesServiceWork()) this.#lastAnswerAt = new Date();
    this.#countAttempt(attempt, 'settings');
  };

  /** An attempt of a call with a workspace's own account; /readyz ignores these. */
  readonly onWorkspaceServiceAttempt = (attempt: CallAttempt): void => this.#countAttempt(attempt, 'own');

  #countAttempt({ call: endpoint, status, attempt, durationMs }: CallAttempt, account: 'settings' | 'own') {
    this.#serviceCalls.inc({ endpoint, status: statusLabel(status), account });
    this.#serviceSeconds.observe({ endpoint, account }, durationMs / 1_000);
    if (attempt > 1) this.#serviceRetries.inc({ endpoint, account });
  }

  /** What a try of the settings' address and key found. */
  readonly onServiceProbe = (result: ProbeResult): void => {
    this.#isService = result !== 'no_service';
    if (!this.#isService) this.#lastAnswerAt = undefined;
  };

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

  /** Fields of /readyz, which itself makes no calls; `ok` is null before the first attempt. */
  report(): Record<string, unknown> {
    return {
      startedAt: new Date(performance.timeOrigin),
      lastEventAt: this.#lastEventAt ?? null,
      requestsRejectedAt: this.#requestsRejectedAt,
      slackThrottledAt: this.#throttledAt,
      service: {
        ok: this.#lastAttempt === undefined ? null : this.#doesServiceWork(),
        lastAnswerAt: this.#lastAnswerAt ?? null,
        lastStatus: this.#lastAttempt?.status ?? null,
        lastSeconds: this.#lastAttempt === undefined ? null : this.#lastAttempt.durationMs / 1_000,
      },
      deafWorkspaces: this.#sources?.deafWorkspaces(),
      ownRefused: this.#sources?.rejectedWorkspaceCredentials(),
      missingScopes: countsOf(this.#sources?.missingScopes() ?? []),
    };
  }

  /** Whether the last attempt got an answer that counts: the service neither rejected the key nor asked for fewer calls. */
  #doesServiceWork(): boolean {
    const status = this.#lastAttempt?.status;
    return this.#isService && status !== undefined && status < 500 && !REJECTED_STATUSES.has(status);
  }

  /** Undefined if the database does not answer in time. */
  #readStats(sources: TelemetrySources): Promise<Stats | undefined> {
    const now = performance.now();
    if (this.#stats === undefined || now - this.#stats.at > STATS_TTL_MS) {
      const asked = sources.stats().catch(() => undefined);
      this.#stats = { at: now, read: within(STATS_TIMEOUT_MS, asked, undefined) };
    }
    return this.#stats.read;
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** What the process may take: of the container or the machine, and of V8's heap. */
function readMemoryLimits(): Record<string, number> {
  // 0 where the container says nothing, and beyond all machines where it sets no limit.
  const constrained = process.constrainedMemory() || Number.POSITIVE_INFINITY;
  return { process: Math.min(constrained, totalmem()), heap: getHeapStatistics().heap_size_limit };
}

function statusLabel(status: number | undefined): string {
  if (status === undefined) return 'none';
  return REPORTED_STATUSES.has(status) ? String(status) : `${Math.floor(status / 100)}xx`;
}

const REJECTED_STATUSES = new Set([401, 403, 429]);

/** Logs a line for a step of a turn, with its ids in Slack, at the service and in the database. */
function logStep(log: Logger, turn: Turn, step: TurnStep, task: string | null): void {
  const { id, workspace, channel, thread_ts, message_ts: ts, outcome } = turn;
  const ids = { turn: id, workspace, channel, thread_ts, ts, task };
  const details = {
    sent: turn.user_message_id,
    reply: turn.assistant_message_id,
    outcome,
    files: turn.attached_file_ids?.length ?? null,
    bytes: turn.uploaded_bytes,
  };
  log.info({ ...ids, step, ms: Date.now() - turn.started_at.getTime(), ...details }, `turn ${step}`);
}
