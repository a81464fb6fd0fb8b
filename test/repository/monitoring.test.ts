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
      renewals: { due: 0, late: 0 },
    }),
    heldThreads: () => 0,
    deafWorkspaces: () => 0,
    slackConnections: () => undefined,
    rejectedSettings: () => [],
    rejectedWorkspaceCredentials: () => ({ token: 0, key: 0 }),
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

test('docs/operator-troubleshooting.md says for each alert what to do, and for no other', () => {
  const [, section = ''] = /## Alerts\n([\s\S]*?)\n## /.exec(read('docs/operator-troubleshooting.md')) ?? [];
  const rows = [...section.matchAll(/^\| `(Taskthread\w+)` \|/gm)].map(([, name]) => name);
  expect(rows).toEqual(alerts.map(({ alert }) => alert));
  for (const { annotations } of alerts)
    expect(annotations.runbook_url).toMatch(/\/docs\/operator-troubleshooting\.md#alerts$/);
});

test('the alerts for the service count only the account of the settings', () => {
  const selectors = alerts.flatMap(({ expr }) => expr.match(/taskthread_service_\w+(?:\{[^}]*\})?/g) ?? []);
  expect(selectors.length).toBeGreaterThan(0);
  for (const selector of selectors) expect(selector).toContain('account="settings"');
});

/** Hours in which nothing is wrong: a value for each minute, in the notation of promtool. */
const WELL: Readonly<Record<string, string>> = {
  'taskthread_build_info{instance="a",version="1.0.0"}': '1x600',
  'taskthread_database_up{instance="a"}': '1x600',
  'taskthread_own_credentials_refused{kind="token"}': '0x600',
  'taskthread_token_renewals{state="due"}': '8000x600',
  'taskthread_token_renewals{state="late"}': '0x600',
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
  // A workspace's own service is that workspace's matter.
  'taskthread_service_calls_total{account="own",status="none"}': '0+100x600',
  'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.02x600',
  'nodejs_eventloop_lag_p99_seconds{instance="another program"}': '2x600',
};

/** What must be different for each alert; undefined: the series is missing. */
const TROUBLE: Readonly<Record<string, Readonly<Record<string, string | undefined>>>> = {
  TaskthreadDown: { 'taskthread_build_info{instance="a",version="1.0.0"}': undefined },
  TaskthreadDatabaseDown: { 'taskthread_database_up{instance="a"}': '0x600' },
  TaskthreadCredentialRefused: { 'taskthread_credential_refused{setting="AGENT_API_KEY"}': '1x600' },
  TaskthreadWorkspaceCredentialRefused: { 'taskthread_own_credentials_refused{kind="token"}': '2x600' },
  TaskthreadTokenRenewalsLate: { 'taskthread_token_renewals{state="late"}': '2x600' },
  TaskthreadSlackDisconnected: { 'taskthread_slack_connections{instance="a"}': '0x600' },
  TaskthreadDeafWorkspace: { taskthread_deaf_workspaces: '1x600' },
  TaskthreadNoEvents: { 'taskthread_events_total{kind="message",outcome="admitted"}': '7x600' },
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
  TaskthreadRetentionFailing: { 'taskthread_retention_failures_total{step="messages"}': '0+1x600' },
  TaskthreadEventLoopBlocked: { 'nodejs_eventloop_lag_p99_seconds{instance="a"}': '0.8x600' },
};

const EVENTS_BY_HTTP = {
  'taskthread_slack_connections{instance="a"}': '0x600',
  'taskthread_slack_connections_allowed{instance="a"}': '0x600',
};

/** After midnight: promtool's clock begins on Thursday, 1970-01-01. */
const NIGHT = '3h';
const WORKING_HOURS = '9h';

function scenario(
  name: string,
  changes: Readonly<Record<string, string | undefined>>,
  firing: string[],
  at: string,
) {
  const series = Object.entries({ ...WELL, ...changes });
  return {
    name,
    interval: '1m',
    input_series: series.flatMap(([key, values]) => (values === undefined ? [] : [{ series: key, values }])),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"})',
        eval_time: at,
        exp_samples: firing.map((alert) => ({ labels: `{alertname="${alert}"}`, value: 1 })),
      },
    ],
  };
}

test('each alert has its trouble', () => {
  expect(Object.keys(TROUBLE)).toEqual(alerts.map(({ alert }) => alert));
});

describe.skipIf(!hasPromtool)('Prometheus', () => {
  /** Writes a file for promtool, runs it, and resolves to what it says. */
  async function promtool(args: readonly string[], content: unknown): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'taskthread-promtool-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, 'rules.yaml');
    await writeFile(file, stringify(content));
    const { stdout } = await promisify(execFile)(PROMTOOL, [...args, file]);
    return stdout;
  }

  test('raises each alert in its trouble and no other, and none while all is well', async () => {
    const tests = [
      scenario('all is well', {}, [], WORKING_HOURS),
      scenario('events by HTTP', EVENTS_BY_HTTP, [], WORKING_HOURS),
      scenario('silence at night', TROUBLE.TaskthreadNoEvents ?? {}, [], NIGHT),
      ...Object.entries(TROUBLE).map(([alert, changes]) =>
        scenario(alert, changes, [alert], alert === 'TaskthreadNoEvents' ? WORKING_HOURS : NIGHT),
      ),
    ];
    const content = { rule_files: [path(ALERTS)], evaluation_interval: '5m', tests };
    const said = await promtool(['test', 'rules'], content);
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
