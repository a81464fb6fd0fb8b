import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { JOB_KIND } from '../store/jobs/jobs.ts';
import { PHASES } from '../store/threads/turn-phase.ts';

type MetricName = keyof typeof metricHelp;

/** What a gauge shows; by the values of its label if it has one. */
type Reading = number | Readonly<Record<string, number>> | undefined;

let processFigures: Registry | undefined;

/** Figures of the process itself, from the first scrape on: what measures them never ends, so there is one for all apps. */
function processRegistry(): Registry {
  if (processFigures === undefined) {
    processFigures = new Registry();
    collectDefaultMetrics({ register: processFigures });
  }
  return processFigures;
}

/** The metrics of an app. No label names a workspace, a person or a thread, because their number is unbounded. */
export class Metrics {
  readonly #registry = new Registry();

  counter<Label extends string>(name: MetricName, labelNames: Label[]): Counter<Label> {
    return new Counter(this.#describe(name, labelNames));
  }

  /** A count that something else keeps. */
  count(name: MetricName, read: () => number): void {
    new Counter({
      ...this.#describe(name, []),
      collect() {
        this.reset();
        this.inc(read());
      },
    });
  }

  /** `buckets`: their upper ends in seconds. */
  histogram<Label extends string>(name: MetricName, buckets: number[], labelNames: Label[] = []) {
    return new Histogram({ ...this.#describe(name, labelNames), buckets });
  }

  /** A figure that is read on a scrape, or one for each value of `label`; left out, rather than stale, if it is unknown. */
  gauge(name: MetricName, read: () => Reading | Promise<Reading>, label?: string): void {
    new Gauge({
      ...this.#describe(name, label === undefined ? [] : [label]),
      async collect() {
        const found = await read();
        this.reset();
        if (typeof found === 'number') this.set(found);
        else if (label === undefined) this.remove();
        else for (const [value, figure] of Object.entries(found ?? {})) this.set({ [label]: value }, figure);
      },
    });
  }

  async scrape(): Promise<{ type: string; text: string }> {
    const all = Registry.merge([processRegistry(), this.#registry]);
    return { type: all.contentType, text: await all.metrics() };
  }

  #describe<Label extends string>(name: MetricName, labelNames: Label[]) {
    return { name: `taskthread_${name}`, help: metricHelp[name], labelNames, registers: [this.#registry] };
  }
}

const EVENT_KIND =
  'kind: message, edit, version (a change without an edit), deletion, renaming, move, channel_deletion, joining, ' +
  "stop (a stop reaction or Slack's stop), step (of a workflow), other";
const EVENT_OUTCOME =
  'outcome: admitted, known (seen before), orphan (between people), unsent (between people), ' +
  'closed (where the bot does not answer), stop_said, reworded, withdrawn, too_late (already sent), ' +
  'ignored (not for the bot), recorded (of a channel, or a step), not_installed, ' +
  'uninstalled, failed (not recorded in an outage), unrecordable (see the log); of a stop: done, stopping, over, running, refused, unknown, nothing';
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
  log_lines_dropped_total:
    'Lines of the log that were dropped because nothing took them: its reader has stopped, or its disk is full',
  service_calls_total: `Attempts of calls to the agent service; status: of HTTP, 4xx for a rare one, or none; ${CALL}`,
  service_call_seconds: `Duration of calls to the agent service; ${CALL}`,
  service_retries_total: `Attempts after the first; ${CALL}`,
  requests_rejected_total:
    "Requests to the address for Slack's events that were rejected; " +
    'reason: unsigned, clock (too old, or from the future), signature (made with another secret), body (no JSON object), too_large, busy',
  memory_limit_bytes:
    "The most memory that the process may take; of: process (the container's limit, or the machine's memory), heap (V8's limit)",
  threads_held: 'Threads that this process works on',
  credential_refused: '1 for each setting whose token or key is rejected; setting: its name',
  own_credentials_refused:
    'Credentials of workspaces that are rejected or cannot be decrypted; kind: token, key',
  missing_scopes:
    'Workspaces in which the app lacks a scope of the manifest, as far as Slack has said; scope: its name',
  deaf_workspaces: 'Workspaces whose posts do not come back as events',
  slack_connections: 'Open Socket Mode connections of this process; 0 with events by HTTP',
  slack_connections_allowed: 'Socket Mode connections that this process is to open; 0 with events by HTTP',
  database_up: '1 if the database answers and takes what is written, else 0',
  messages_waiting: 'Messages waiting for their turn, over all processes',
  oldest_waiting_seconds: 'Age of the oldest waiting message',
  token_renewals:
    'Tokens whose renewal is due, over all processes; state: due (all), late (those with an hour left, or less)',
  quota_messages_left:
    'How many more messages the hourly quotas allow the busiest person, and the busiest workspace; of: person, workspace; without a quota it is missing',
  file_limit_bytes: 'The largest file that people can pass to the agent',
  feedback: 'Thumbs of the last 24 hours; thumb: good, bad',
  turns: `Unfinished turns, over all processes; state: ${PHASES.join(', ')}`,
};
