import type { Logger } from 'pino';
import type { ProbeResult } from '../agent/account-probe.ts';
import type { CallAttempt } from '../agent/client-options.ts';
import type { EventKind, EventOutcome } from '../relay/runtime/incoming-message.ts';
import type { Turn } from '../store/schema.ts';
import type { OnStep, TurnStep } from '../store/threads/turn-steps.ts';
import { type MetricSources, Metrics } from './metrics.ts';

/** Feeds the hooks of the parts below to the metrics, to /readyz and to the log lines of turn steps. */
export class Telemetry {
  readonly metrics = new Metrics();
  #lastEventAt: Date | undefined;
  /** The last attempt of a call to the service of the settings; `status` is undefined if there was no response. */
  #lastAttempt: { status: number | undefined } | undefined;
  #lastAnswerAt: Date | undefined;
  /** False if the address was found to accept any key; until a call succeeds there. */
  #isService = true;
  #sources: MetricSources | undefined;
  readonly #log: Logger;

  constructor(log: Logger) {
    this.#log = log;
  }

  /** Adds what is read when somebody asks. */
  watch(sources: MetricSources): this {
    this.#sources = sources;
    this.metrics.watch(sources);
    return this;
  }

  readonly onTurnStep: OnStep = (turn, step, task) => {
    logStep(this.#log, turn, step, task);
    this.metrics.step(turn, step);
  };

  readonly onEventHandled = (event: { kind: EventKind; outcome: EventOutcome; ms: number }): void => {
    this.#lastEventAt = new Date();
    this.metrics.event(event);
  };

  /** An attempt of a call to the service of the settings. */
  readonly onServiceAttempt = (attempt: CallAttempt): void => {
    this.#lastAttempt = attempt;
    if (attempt.status !== undefined && attempt.status < 300) this.#isService = true;
    if (this.#doesServiceWork()) this.#lastAnswerAt = new Date();
    this.metrics.serviceAttempt(attempt, 'settings');
  };

  /** What a try of the settings' address and key found. */
  readonly onServiceProbe = (result: ProbeResult): void => {
    this.#isService = result !== 'no_service';
    if (!this.#isService) this.#lastAnswerAt = undefined;
  };

  /** An attempt of a call with a workspace's own account; /readyz ignores these. */
  readonly onWorkspaceServiceAttempt = (attempt: CallAttempt): void =>
    this.metrics.serviceAttempt(attempt, 'own');

  /** Fields of /readyz, which itself makes no calls; `ok` is null before the first attempt. */
  report(): Record<string, unknown> {
    return {
      lastEventAt: this.#lastEventAt ?? null,
      service: {
        ok: this.#lastAttempt === undefined ? null : this.#doesServiceWork(),
        lastAnswerAt: this.#lastAnswerAt ?? null,
        lastStatus: this.#lastAttempt?.status ?? null,
      },
      deafWorkspaces: this.#sources?.deafWorkspaces(),
      ownRefused: this.#sources?.rejectedWorkspaceCredentials(),
    };
  }

  /** Whether the last attempt got an answer that counts: of the service, to a key that it accepts. */
  #doesServiceWork(): boolean {
    const status = this.#lastAttempt?.status;
    return this.#isService && status !== undefined && status < 500 && !REJECTED_STATUSES.has(status);
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
    bytes: turn.uploaded_bytes,
  };
  log.info({ ...ids, step, ms: Date.now() - turn.started_at.getTime(), ...details }, `turn ${step}`);
}
