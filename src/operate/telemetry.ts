import type { Logger } from 'pino';
import type { CallAttempt } from '../agent/client-options.ts';
import type { Turn } from '../store/schema.ts';
import type { OnStep, TurnStep } from '../store/threads/turn-steps.ts';
import { countHttpTraffic } from './http-traffic.ts';
import { type MetricSources, Metrics } from './metrics.ts';

export interface TelemetryDeps extends MetricSources {
  log: Logger;
  /** The addresses of Slack and of the service in the settings. */
  origins: { slack: string; service: string | undefined };
}

/** Feeds the hooks of the parts below to the metrics, to /readyz and to the log lines of turn steps. */
export class Telemetry {
  readonly metrics: Metrics;
  #lastEventAt: Date | undefined;
  /** The last attempt of a call to the service of the settings; `status` is undefined if there was no response. */
  #lastAttempt: { status: number | undefined } | undefined;
  #lastAnswerAt: Date | undefined;
  readonly #sources: MetricSources;
  readonly #log: Logger;
  readonly #stopCounting: () => void;

  constructor({ log, origins, ...sources }: TelemetryDeps) {
    this.metrics = new Metrics(sources);
    this.#sources = sources;
    this.#log = log;
    this.#stopCounting = countHttpTraffic(origins, (...counted) => this.metrics.bytes(...counted));
  }

  readonly onTurnStep: OnStep = (turn, step, task) => {
    logStep(this.#log, turn, step, task);
    this.metrics.step(turn, step);
  };

  readonly onEventHandled = (event: { kind: string; outcome: string; ms: number }): void => {
    this.#lastEventAt = new Date();
    this.metrics.event(event);
  };

  /** An attempt of a call to the service of the settings. */
  readonly onServiceAttempt = (attempt: CallAttempt): void => {
    if (attempt.status !== undefined) this.#lastAnswerAt = new Date();
    this.#lastAttempt = attempt;
    this.metrics.serviceAttempt(attempt, 'settings');
  };

  /** An attempt of a call with a workspace's own account; /readyz ignores these. */
  readonly onWorkspaceServiceAttempt = (attempt: CallAttempt): void =>
    this.metrics.serviceAttempt(attempt, 'own');

  /** Fields of /readyz, which itself makes no calls; `ok` is null before the first attempt. */
  report(): Record<string, unknown> {
    const status = this.#lastAttempt?.status;
    const ok = status !== undefined && status < 500 && !REJECTED_STATUSES.has(status);
    return {
      lastEventAt: this.#lastEventAt ?? null,
      service: {
        ok: this.#lastAttempt === undefined ? null : ok,
        lastAnswerAt: this.#lastAnswerAt ?? null,
        lastStatus: status ?? null,
      },
      deafWorkspaces: this.#sources.deafWorkspaces(),
      ownRefused: this.#sources.rejectedWorkspaceCredentials(),
    };
  }

  close(): void {
    this.#stopCounting();
  }
}

const REJECTED_STATUSES = new Set([401, 403]);

/** Logs a line for a step of a turn, with its ids in Slack, at the service and in the database. */
function logStep(log: Logger, turn: Turn, step: TurnStep, task: string | null): void {
  const { id, workspace, channel, thread_ts, message_ts: ts, outcome } = turn;
  const ids = { turn: id, workspace, channel, thread_ts, ts, task };
  const details = {
    sent: turn.user_message_id,
    reply: turn.assistant_message_id,
    outcome,
    files: turn.attached_file_ids?.length ?? null,
    edits: turn.edit_count,
    bytes: turn.uploaded_bytes,
  };
  log.info({ ...ids, step, ms: Date.now() - turn.started_at.getTime(), ...details }, `turn ${step}`);
}
