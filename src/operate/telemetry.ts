import type { Logger } from 'pino';
import type { CallAttempt } from '../agent/client-options.ts';
import type { PermitStore } from '../slack/permit-queue.ts';
import type { SlackCallRecord } from '../slack/slack-client.ts';
import type { OnStep } from '../store/threads/turn-steps.ts';
import { countHttpTraffic } from './http-traffic.ts';
import { Liveness, type LivenessReport } from './liveness.ts';
import { type MetricSources, Metrics } from './metrics.ts';
import { createTurnStepLogger } from './turn-step-log.ts';

/** What telemetry needs. */
export interface TelemetryDeps extends MetricSources {
  log: Logger;
  /** The addresses of Slack and of the service in the settings. */
  origins: { slack: string; service: string | undefined };
}

/** Feeds the hooks of the parts below to the metrics, to /readyz and to the log lines of turn steps. */
export class Telemetry {
  readonly #metrics: Metrics;
  readonly #liveness = new Liveness();
  readonly #sources: MetricSources;
  readonly #stopCounting: () => void;
  readonly onTurnStep: OnStep;

  constructor({ log, origins, ...sources }: TelemetryDeps) {
    this.#metrics = new Metrics(sources);
    this.#sources = sources;
    this.#stopCounting = countHttpTraffic(origins, (...counted) => this.#metrics.bytes(...counted));
    const logStep = createTurnStepLogger(log);
    this.onTurnStep = (turn, step, task) => {
      logStep(turn, step, task);
      this.#metrics.step(turn, step);
    };
  }

  readonly onEventHandled = (event: { kind: string; outcome: string; ms: number }): void => {
    this.#liveness.recordEvent();
    this.#metrics.event(event);
  };

  /** An attempt of a call to the service of the settings. */
  readonly onServiceAttempt = (attempt: CallAttempt): void => {
    this.#liveness.recordServiceAttempt(attempt);
    this.#metrics.serviceAttempt(attempt, 'settings');
  };

  /** An attempt of a call with a workspace's own account; /readyz ignores these. */
  readonly onWorkspaceServiceAttempt = (attempt: CallAttempt): void =>
    this.#metrics.serviceAttempt(attempt, 'own');

  readonly onSlackCall = (call: SlackCallRecord): void => this.#metrics.slackCall(call);

  /** `unseenMs`: the age of the oldest text that an edit first shows. */
  readonly onSlackEdit = (unseenMs: number): void => this.#metrics.edit(unseenMs);

  /** The rate limits, with every permit counted. */
  withPermitMetrics(permits: PermitStore): PermitStore {
    return this.#metrics.withPermitMetrics(permits);
  }

  /** The body of /metrics. */
  readonly metricsPage = (): Promise<{ type: string; text: string }> => this.#metrics.scrape();

  /** Fields of /readyz. */
  report(): LivenessReport & { ownRefused: ReturnType<MetricSources['rejectedWorkspaceCredentials']> } {
    return { ...this.#liveness.report(), ownRefused: this.#sources.rejectedWorkspaceCredentials() };
  }

  close(): void {
    this.#stopCounting();
  }
}
