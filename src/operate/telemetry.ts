import type { Logger } from 'pino';
import type { CallAttempt } from '../agent/client-options.ts';
import type { PermitStore } from '../slack/permit-store.ts';
import type { SlackCallRecord } from '../slack/slack-client.ts';
import type { OnStep } from '../store/threads/turn-steps.ts';
import { countHttpTraffic } from './http-traffic.ts';
import { Liveness, type LivenessReport } from './liveness.ts';
import { type MetricSources, Metrics } from './metrics.ts';
import { createTurnStepLogger } from './turn-step-log.ts';

/** What watching needs. */
export interface TelemetryDeps extends MetricSources {
  log: Logger;
  /** Where Slack and the service of the settings are. */
  origins: { slack: string; service: string | undefined };
}

/** Everything that hears what happens below: figures, signs of life and the log's line a step. */
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

  /** A try at the service of the settings. */
  readonly onServiceAttempt = (made: CallAttempt): void => {
    this.#liveness.recordServiceAttempt(made);
    this.#metrics.serviceTry(made, 'settings');
  };

  /** A try at the service of a workspace's own account, which says nothing of the other. */
  readonly onWorkspaceServiceAttempt = (made: CallAttempt): void => this.#metrics.serviceTry(made, 'own');

  readonly onSlackCall = (call: SlackCallRecord): void => this.#metrics.slackCall(call);

  /** `unseenMs`: how old the oldest text is that an edit shows first. */
  readonly onSlackEdit = (unseenMs: number): void => this.#metrics.edit(unseenMs);

  /** The lanes, with every permit counted. */
  withPermitMetrics(lanes: PermitStore): PermitStore {
    return this.#metrics.withPermitMetrics(lanes);
  }

  /** What a scrape gets. */
  readonly metricsPage = (): Promise<{ type: string; text: string }> => this.#metrics.scrape();

  /** For /readyz. */
  report(): LivenessReport & { ownRefused: ReturnType<MetricSources['rejectedWorkspaceCredentials']> } {
    return { ...this.#liveness.report(), ownRefused: this.#sources.rejectedWorkspaceCredentials() };
  }

  close(): void {
    this.#stopCounting();
  }
}
