import type { Logger } from 'pino';
import type { ServiceTry } from '../agent/options.ts';
import type { SlackCall } from '../slack/client.ts';
import type { LaneStore } from '../slack/lane-store.ts';
import type { OnStep } from '../store/turn-steps.ts';
import { type MetricSources, Metrics } from './metrics.ts';
import { Pulse, type PulseReport } from './pulse.ts';
import { stepLog } from './step-log.ts';
import { countTraffic } from './traffic.ts';

/** What watching needs. */
export interface WatchParts extends MetricSources {
  log: Logger;
  /** Where Slack and the service of the settings are. */
  origins: { slack: string; service: string | undefined };
}

/** Everything that hears what happens below: figures, signs of life and the log's line a step. */
export class Watch {
  readonly #metrics: Metrics;
  readonly #pulse = new Pulse();
  readonly #sources: MetricSources;
  readonly #endCount: () => void;
  readonly onStep: OnStep;

  constructor({ log, origins, ...sources }: WatchParts) {
    this.#metrics = new Metrics(sources);
    this.#sources = sources;
    this.#endCount = countTraffic(origins, (...counted) => this.#metrics.bytes(...counted));
    const logStep = stepLog(log);
    this.onStep = (turn, step, task) => {
      logStep(turn, step, task);
      this.#metrics.step(turn, step);
    };
  }

  readonly onHeard = (event: { kind: string; outcome: string; ms: number }): void => {
    this.#pulse.event();
    this.#metrics.event(event);
  };

  /** A try at the service of the settings. */
  readonly onTry = (made: ServiceTry): void => {
    this.#pulse.serviceTry(made);
    this.#metrics.serviceTry(made, 'settings');
  };

  /** A try at the service of a workspace's own account, which says nothing of the other. */
  readonly onOwnTry = (made: ServiceTry): void => this.#metrics.serviceTry(made, 'own');

  readonly onCall = (call: SlackCall): void => this.#metrics.slackCall(call);

  /** `unseenMs`: how old the oldest text is that an edit shows first. */
  readonly onEdit = (unseenMs: number): void => this.#metrics.edit(unseenMs);

  /** The lanes, with every permit counted. */
  lanes(lanes: LaneStore): LaneStore {
    return this.#metrics.countedLanes(lanes);
  }

  /** What a scrape gets. */
  readonly page = (): Promise<{ type: string; text: string }> => this.#metrics.page();

  /** For /readyz. */
  report(): PulseReport & { ownRefused: ReturnType<MetricSources['ownRefused']> } {
    return { ...this.#pulse.report(), ownRefused: this.#sources.ownRefused() };
  }

  close(): void {
    this.#endCount();
  }
}
