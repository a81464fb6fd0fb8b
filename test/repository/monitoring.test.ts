import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { z } from 'zod';
import { Telemetry } from '../../src/operate/telemetry.ts';
import { silentLog } from '../support/silent-log.ts';

const PROMTOOL = process.env.PROMTOOL ?? 'promtool';
const hasPromtool = spawnSync(PROMTOOL, ['--version']).status === 0;
if (!hasPromtool) console.warn('No promtool was found: the tests of what Prometheus says are skipped.');

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const read = (name: string) => readFileSync(path(name), 'utf8');
const ALERTS = 'deploy/prometheus-alerts.yaml';

const { groups } = z
  .object({
    groups: z.array(
      z.object({
        name: z.string(),
        rules: z.array(
          z.object({
            alert: z.string(),
            expr: z.string(),
            for: z.string(),
            labels: z.object({ severity: z.enum(['critical', 'warning']) }),
            annotations: z.object({ summary: z.string(), runbook_url: z.string() }),
          }),
        ),
      }),
    ),
  })
  .parse(parse(read(ALERTS)));
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard = z
  .looseObject({
    panels: z.array(
      z.looseObject({
        id: z.number(),
        title: z.string(),
        targets: z
          .array(z.object({ refId: z.string(), expr: z.string(), legendFormat: z.string() }))
          .default([]),
      }),
    ),
  })
  .parse(JSON.parse(read('deploy/grafana-dashboard.json')));
const shown = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));

/** Every metric of a process. */
async function metricNames(): Promise<string[]> {
  const metrics = new Telemetry(silentLog).watch({
    stats: async () => ({
      ...{ waiting: 0, oldestWaitingSeconds: 0, turns: {}, feedback: { good: 0, bad: 0 } },
      ...{ renewals: { due: 0, late: 0 }, begun: { person: 0, workspace: 0 } },
    }),
    messagesLeft: () => ({}),
    largestFile: 0,
    findTrouble: async () => undefined,
    heldThreads: () => 0,
    deafWorkspaces: () => 0,
    slackConnections: () => undefined,
    rejectedSettings: () => [],
    rejectedWorkspaceCredentials: () => ({ token: 0, key: 0 }),
    missingScopes: () => [],
  });
  const { text } = await metrics.scrape();
  return [...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name);
}

const namesIn = (expressions: readonly string[]) =>
  expressions.flatMap((expr) =>
    [...expr.matchAll(/\b(?:taskthread|nodejs|process)_\w+/g)].map(([name]) => name.replace(/_bucket$/, '')),
  );

test('alerts and dashboard use only metrics that a process has, and the dashboard leaves none out', async () => {
  const names = await metricNames();
  const used = new Set(namesIn([...alerts.map(({ expr }) => expr), ...shown]));
  expect([...used].filter((name) => !names.includes(name))).toEqual([]);
  const onDashboard = namesIn(shown);
  expect(names.filter((name) => name.startsWith('taskthread_') && !onDashboard.includes(name))).toEqual([]);
});

test('each panel has an id of its own', () => {
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});

test('docs/alerts.md says for each alert what to do, and for no other', () => {
  const rows = [...read('docs/alerts.md').matchAll(/^\| `(Taskthread\w+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(alerts.map(({ alert }) => alert));
  for (const { annotations } of alerts) expect(annotations.runbook_url).toMatch(/\/docs\/alerts\.md$/);
});

test('the alerts for the service count only the account of the settings', () => {
  const selectors = alerts.flatMap(({ expr }) => expr.match(/taskthread_service_\w+(?:\{[^}]*\})?/g) ?? []);
  expect(selectors.length).toBeGreaterThan(0);
  for (const selector of selectors) expect(selector).toContain('account="settings"');
});

/** Hours in which nothing is wrong: a value for each minute, in the notation of promtool. */
const WELL: Readonly<Record<string, string>> = {
  'taskthread_build_info{instance="a",version="1.0.0"}': '1x600',
  'process_start_time_seconds{instance="a"}': '100x600',
  'process_start_time_seconds{instance="another program"}': '0+60x600',
  'process_resident_memory_bytes{instance="a"}': '300x600',
  'taskthread_memory_limit_bytes{instance="a",of="process"}': '768x600',
  // It is collected every other minute.
  'nodejs_heap_size_used_bytes{instance="a"}': '200 390 '.repeat(300),
  'taskthread_memory_limit_bytes{instance="a",of="heap"}': '400x600',
  'taskthread_database_up{instance="a"}': '1x600',
  'taskthread_own_credentials_refused{kind="token"}': '0x600',
  'taskthread_token_renewals{state="due"}': '8000x600',
  'taskthread_token_renewals{state="late"}': '0x600',
  'taskthread_own_credentials_refused{kind="key"}': '0x600',
  // Anybody may send requests without a signature.
  'taskthread_requests_rejected_total{reason="unsigned"}': '0+30x600',
  'taskthread_requests_rejected_total{reason="clock"}': '0x600',
  'taskthread_requests_rejected_total{reason="signature"}': '0+0.1x600',
  // The second process has no share of the connections.
  'taskthread_slack_connections{instance="a"}': '2x600',
  'taskthread_slack_connections_allowed{instance="a"}': '2x600',
  'taskthread_slack_connections{instance="b"}': '0x600',
  'taskthread_slack_connections_allowed{instance="b"}': '0x600',
  taskthread_deaf_workspaces: '0x600',
  'taskthread_events_total{kind="message",outcome="admitted"}': '0+1x600',
  taskthread_oldest_waiting_seconds: '60x600',
  'taskthread_turns_ended_total{outcome="completed"}': '0+9x600',
  'taskthread_turns_ended_total{outcome="failed"}': '0+1x600',
  'taskthread_first_visible_seconds_bucket{le="30"}': '0+10x600',
  'taskthread_first_visible_seconds_bucket{le="60"}': '0+10x600',
  'taskthread_first_visible_seconds_bucket{le="+Inf"}': '0+10x600',
  'taskthread_unseen_text_seconds_bucket{le="60"}': '0+10x600',
  'taskthread_unseen_text_seconds_bucket{le="120"}': '0+10x600',
  'taskthread_unseen_text_seconds_bucket{le="+Inf"}': '0+10x600',
  'taskthread_slack_calls_total{method="chat.update",outcome="ok"}': '0+50x600',
  'taskthread_slack_calls_total{method="chat.update",outcome="message_gone"}': '0+50x600',
  'taskthread_slack_throttled_total{method="chat.update"}': '0x600',
  'taskthread_service_calls_total{account="settings",status="200"}': '0+100x600',
  'taskthread_service_call_seconds_bucket{account="settings",endpoint="GET /tasks",le="5"}': '0+100x600',
  'taskthread_service_call_seconds_bucket{account="settings",endpoint="GET /tasks",le="30"}': '0+100x600',
  'taskthread_service_call_seconds_bucket{account="settings",endpoint="GET /tasks",le="+Inf"}': '0+100x600',
  // A message may be accepted as late as its run ends.
  'taskthread_service_call_seconds_bucket{account="settings",endpoint="POST /messages",le="30"}': '0x600',
  'taskthread_service_call_seconds_bucket{account="settings",endpoint="POST /messages",le="120"}': '0+9x600',
  'taskthread_service_call_seconds_bucket{account="settings",endpoint="POST /messages",le="+Inf"}': '0+9x600',
  // A workspace's own service is that workspace's matter.
  'taskthread_service_calls_total{account="own",status="none"}': '0+100x600',
  'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.02x600',
  'nodejs_eventloop_lag_p99_seconds{instance="another program"}': '2x600',
};

/** What must be different for each alert; undefined: the series is missing. */
const TROUBLE: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  TaskthreadDown: { 'taskthread_build_info{instance="a",version="1.0.0"}': undefined },
  TaskthreadRestarting: { 'process_start_time_seconds{instance="a"}': '0+60x600' },
  TaskthreadMemoryNearLimit: { 'process_resident_memory_bytes{instance="a"}': '720x600' },
  TaskthreadDatabaseDown: { 'taskthread_database_up{instance="a"}': '0x600' },
  TaskthreadCredentialRefused: { 'taskthread_credential_refused{setting="AGENT_API_KEY"}': '1x600' },
  TaskthreadWorkspaceTokenRefused: { 'taskthread_own_credentials_refused{kind="token"}': '2x600' },
  TaskthreadWorkspaceKeyRefused: { 'taskthread_own_credentials_refused{kind="key"}': '2x600' },
  TaskthreadScopeMissing: { 'taskthread_missing_scopes{scope="users:read"}': '1x600' },
  TaskthreadRequestsRejected: {
    'taskthread_requests_rejected_total{reason="signature"}': '0+2x600',
  },
  TaskthreadTokenRenewalsLate: { 'taskthread_token_renewals{state="late"}': '2x600' },
  TaskthreadSlackDisconnected: { 'taskthread_slack_connections{instance="a"}': '0x600' },
  TaskthreadDeafWorkspace: { taskthread_deaf_workspaces: '1x600' },
  TaskthreadNoEvents: { 'taskthread_events_total{kind="message",outcome="admitted"}': '0+1x1700 1700x180' },
  TaskthreadTurnsWaiting: { taskthread_oldest_waiting_seconds: '9000x600' },
  TaskthreadTurnsFailing: { 'taskthread_turns_ended_total{outcome="failed"}': '0+5x600' },
  TaskthreadFirstReplySlow: { 'taskthread_first_visible_seconds_bucket{le="30"}': '0+9x600' },
  TaskthreadRepliesLag: { 'taskthread_unseen_text_seconds_bucket{le="60"}': '0+9x600' },
  TaskthreadEditsRefused: {
    'taskthread_slack_calls_total{method="chat.update",outcome="payload_refused"}': '0+10x600',
  },
  TaskthreadSlackThrottled: { 'taskthread_slack_throttled_total{method="chat.update"}': '0+1x600' },
  TaskthreadServiceFailing: {
    'taskthread_service_calls_total{account="settings",status="none"}': '0+20x600',
  },
  TaskthreadServiceSlow: {
    'taskthread_service_call_seconds_bucket{account="settings",endpoint="GET /tasks",le="5"}': '0x600',
  },
  TaskthreadRetentionFailing: { 'taskthread_retention_failures_total{step="messages"}': '0+1x600' },
  TaskthreadEventLoopBlocked: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.8x600' },
};

const LIMITED = 'taskthread_service_calls_total{account="settings",status="429"}';

const EVENTS_BY_HTTP = {
  'taskthread_slack_connections{instance="a"}': '0x600',
  'taskthread_slack_connections_allowed{instance="a"}': '0x600',
};

/** When each alert is looked for, and how many minutes have values: a few more. */
const AT = '3h';
const MINUTES = 190;

interface Scenario {
  name: string;
  changes: Readonly<Record<string, string | undefined>>;
  firing: readonly string[];
  at?: string;
  /** When no alert fires yet: the same series, looked at before. */
  quietAt?: string;
  /** How many values each series has, and the time from one to the next. */
  values?: number;
  interval?: string;
}

function scenario({ name, changes, firing, at = AT, quietAt, values = MINUTES, interval = '1m' }: Scenario) {
  const series = Object.entries({ ...WELL, ...changes });
  const look = (eval_time: string, alerts: readonly string[]) => ({
    expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
    eval_time,
    exp_samples: alerts.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
  });
  return {
    name,
    interval,
    input_series: series.flatMap(([key, all]) =>
      all === undefined ? [] : [{ series: key, values: all.replaceAll('x600', `x${values}`) }],
    ),
    promql_expr_test: [...(quietAt === undefined ? [] : [look(quietAt, [])]), look(at, firing)],
  };
}

/** Ten days with a value each half hour: events all day, but none from midnight to six, and none on the weekend. */
const TEN_DAYS = { values: 480, interval: '30m' };
const EVENTS = 'taskthread_events_total{kind="message",outcome="admitted"}';
/** promtool's clock begins on Thursday, 1970-01-01. */
const WEEK = ['Thu', 'Fri', 'Sat', 'Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** The count of events each half hour of ten days; none arrives after `hours`. */
function eventsUntil(hours: number): string {
  let count = 0;
  const values = Array.from({ length: TEN_DAYS.values }, (_, at) => {
    const hour = at / 2;
    const isQuiet = ['Sat', 'Sun'].includes(WEEK[Math.floor(hour / 24)] ?? '') || hour % 24 < 6;
    if (hour < hours && !isQuiet) count += 5;
    return count;
  });
  return values.join(' ');
}

const NO_EVENTS = 'TaskthreadNoEvents';
/** In the first week, there must be events of the day before. */
const FROM_DAY_TWO = { at: '31h', values: 1_900 };

test('each alert has its trouble', () => {
  expect(Object.keys(TROUBLE)).toEqual(alerts.map(({ alert }) => alert));
});

describe.skipIf(!hasPromtool)('Prometheus', () => {
  /** Writes files for promtool, runs it on the first, and resolves to what it says. */
  async function promtool(args: readonly string[], ...files: readonly unknown[]): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'taskthread-promtool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    for (const [index, file] of files.entries())
      await writeFile(join(folder, `${index}.yaml`), stringify(file));
    // It lives for seconds: collecting its garbage at Go's usual pace takes a quarter of them.
    const env = { ...process.env, GOGC: '800' };
    const { stdout } = await promisify(execFile)(PROMTOOL, [...args, join(folder, '0.yaml')], { env });
    return stdout;
  }

  /** What promtool says of these scenarios. */
  function verdictOn(tests: readonly unknown[], evaluation_interval: string): Promise<string> {
    return promtool(['test', 'rules'], { rule_files: [path(ALERTS)], evaluation_interval, tests });
  }

  /** The same where an alert is the only one: each look at ten days reckons all others, too. */
  function verdictOnAlone(name: string, tests: readonly unknown[], evaluation_interval: string) {
    const rules = { groups: [{ name, rules: alerts.filter(({ alert }) => alert === name) }] };
    return promtool(['test', 'rules'], { rule_files: ['1.yaml'], evaluation_interval, tests }, rules);
  }

  test('raises each alert in its trouble and no other, and none while all is well', async () => {
    const tests = [
      scenario({ name: 'all is well', changes: {}, firing: [] }),
      scenario({ name: 'events by HTTP', changes: EVENTS_BY_HTTP, firing: [] }),
      scenario({ name: 'a service that limits some calls', changes: { [LIMITED]: '0+40x600' }, firing: [] }),
      ...Object.entries(TROUBLE).map(([alert, changes]) =>
        scenario({ name: alert, changes, firing: [alert], ...(alert === NO_EVENTS && FROM_DAY_TWO) }),
      ),
    ];
    expect(await verdictOn(tests, '10m')).toContain('SUCCESS');
  });

  test('misses events at any hour at which there were some before, and not in the quiet of each week', async () => {
    const of = (name: string, lastHour: number, looks: Pick<Scenario, 'at' | 'quietAt' | 'firing'>) =>
      scenario({ name, changes: { [EVENTS]: eventsUntil(lastHour) }, ...looks, ...TEN_DAYS });
    const said = await verdictOnAlone(
      NO_EVENTS,
      [
        of('a quiet night, and a quiet Saturday', 240, { quietAt: '172h', at: '230h', firing: [] }),
        of('an evening in Europe, which is the morning of others', 7 * 24 + 19, {
          at: `${7 * 24 + 22}h`,
          firing: [NO_EVENTS],
        }),
        of('a whole day, seen in the night after it', 7 * 24, { at: `${8 * 24 + 4}h`, firing: [NO_EVENTS] }),
      ],
      '30m',
    );
    expect(said).toContain('SUCCESS');
  });

  test.each([
    ['TaskthreadRestarting', { 'process_start_time_seconds{instance="a"}': '100x60 160+60x540' }, 4],
    ['TaskthreadDatabaseDown', { 'taskthread_database_up{instance="a"}': '1x60 0x540' }, 3],
    ['TaskthreadScopeMissing', { 'taskthread_missing_scopes{scope="users:read"}': '_x60 1x540' }, 4],
    [
      'TaskthreadWorkspaceTokenRefused',
      { 'taskthread_own_credentials_refused{kind="token"}': '0x60 1x540' },
      7,
    ],
    [
      'TaskthreadRequestsRejected',
      { 'taskthread_requests_rejected_total{reason="clock"}': '0x60 1+1x540', [EVENTS]: '0+1x60 60x540' },
      8,
    ],
    [
      'TaskthreadSlackThrottled',
      { 'taskthread_slack_throttled_total{method="chat.update"}': '0x60 2+2x540' },
      5,
    ],
    ['TaskthreadServiceFailing', { [LIMITED]: '0x60 0+300x540' }, 9],
    [
      'TaskthreadServiceSlow',
      {
        'taskthread_service_call_seconds_bucket{account="settings",endpoint="GET /tasks",le="5"}':
          '0+100x60 6000x540',
      },
      10,
    ],
  ] as const)('raises %s soon after its trouble begins', async (alert, changes, minutes) => {
    const looks = { quietAt: '60m', at: `${60 + minutes}m`, firing: [alert] };
    const said = await verdictOn([scenario({ name: alert, changes, ...looks })], '1m');
    expect(said).toContain('SUCCESS');
  });

  test('understands what the dashboard asks', async () => {
    const rules = shown.map((expr, index) => ({
      record: `panel:${index}`,
      expr: expr.replaceAll('$__rate_interval', '5m'),
    }));
    const said = await promtool(['check', 'rules'], { groups: [{ name: 'dashboard', rules }] });
    expect(said).toContain(`SUCCESS: ${rules.length} rules found`);
  });
});
