import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import perfHooks from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Telemetry } from '../../src/operate/telemetry.ts';
import { silentLog } from '../support/silent-log.ts';

const figures = {
  waiting: 3,
  oldestWaitingSeconds: 12,
  turns: { following: 2 },
  feedback: { good: 1, bad: 0 },
  renewals: { due: 7, late: 2 },
  begun: { person: 58, workspace: 99 },
};
const sources = {
  stats: async () => figures,
  messagesLeft: ({ person }: { person: number }) => ({ person: 60 - person }),
  largestFile: 1_000,
  findTrouble: async (): Promise<string | undefined> => undefined,
  heldThreads: () => 4,
  deafWorkspaces: () => 1,
  slackConnections: () => ({ live: 1, allowed: 2 }),
  rejectedSettings: () => ['AGENT_API_KEY'],
  rejectedWorkspaceCredentials: () => ({ token: 0, key: 2 }),
  missingScopes: () => ['users:read', 'files:read', 'users:read'],
};

test('the metrics report waiting messages, running threads, refused permits and rejected credentials', async () => {
  const metrics = new Telemetry(silentLog, () => 5).watch(sources);
  const waits = [0, 700, 0];
  const permits = metrics.withPermitMetrics({
    take: async () => waits.shift() ?? 0,
    pause: async () => undefined,
  });
  const pace = { perMinute: 50, burst: 1 };
  for (const limitKey of ['chat.update', 'chat.update', 'chat.postMessage/C1'])
    await permits.take('T1', limitKey, pace);
  const { text } = await metrics.scrape();
  for (const line of [
    'log_lines_dropped_total 5',
    'messages_waiting 3',
    'oldest_waiting_seconds 12',
    'token_renewals{state="due"} 7',
    'token_renewals{state="late"} 2',
    'quota_messages_left{of="person"} 2',
    'file_limit_bytes 1000',
    'threads_held 4',
    'deaf_workspaces 1',
    'slack_connections 1',
    'slack_connections_allowed 2',
    'turns{state="following"} 2',
    'slack_permits_total{limit="chat.update",outcome="granted"} 1',
    'slack_permits_total{limit="chat.update",outcome="refused"} 1',
    'slack_permits_total{limit="chat.postMessage",outcome="granted"} 1',
    'credential_refused{setting="AGENT_API_KEY"} 1',
    'own_credentials_refused{kind="key"} 2',
    'missing_scopes{scope="users:read"} 2',
  ])
    expect(text).toContain(`taskthread_${line}\n`);
});

test('with events by HTTP, no connection to Slack is open or missed', async () => {
  const metrics = new Telemetry(silentLog).watch({ ...sources, slackConnections: () => undefined });
  const { text } = await metrics.scrape();
  expect(text).toContain('taskthread_slack_connections 0\n');
  expect(text).toContain('taskthread_slack_connections_allowed 0\n');
});

test('the metrics name the release that runs', async () => {
  const { text } = await new Telemetry(silentLog).watch(sources).scrape();
  const [, version] = /"version": "(.+)"/.exec(readFileSync('package.json', 'utf8')) ?? [];
  expect(text).toContain(`taskthread_build_info{version="${version}"} 1\n`);
});

test('the figures of the process are measured once for all apps in it, and only if somebody reads them', async () => {
  const measured = vi.spyOn(perfHooks, 'monitorEventLoopDelay');
  onTestFinished(() => measured.mockRestore());
  const apps = Array.from({ length: 3 }, () => new Telemetry(silentLog).watch(sources));
  expect(measured).not.toHaveBeenCalled();
  const pages = await Promise.all(apps.map((app) => app.scrape()));
  for (const { text } of pages) expect(text).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
  expect(measured.mock.calls.length).toBeLessThanOrEqual(1);
});

test('the calls of a service have few series, whatever it responds', async () => {
  const metrics = new Telemetry(silentLog).watch(sources);
  for (let status = 100; status < 1_000; status += 1)
    metrics.onWorkspaceServiceAttempt({ call: 'GET /projects', status, attempt: 1, durationMs: 1 });
  metrics.onServiceAttempt({ call: 'GET /projects', status: undefined, attempt: 1, durationMs: 1 });
  const lines = (await metrics.scrape()).text.match(/^taskthread_service_calls_total\{.*$/gm);
  expect(lines?.length).toBeLessThan(40);
  expect(lines).toContain(
    'taskthread_service_calls_total{endpoint="GET /projects",status="200",account="own"} 1',
  );
  expect(lines).toContain(
    'taskthread_service_calls_total{endpoint="GET /projects",status="none",account="settings"} 1',
  );
});

test('a database that answers and takes no writes is down', async () => {
  let trouble: string | undefined;
  const metrics = new Telemetry(silentLog).watch({ ...sources, findTrouble: async () => trouble });
  expect((await metrics.scrape()).text).toContain('taskthread_database_up 1\n');
  trouble = 'its disk is full';
  expect((await metrics.scrape()).text).toContain('taskthread_database_up 0\n');
});

test('the metrics tell how much memory the process may take, and its heap', async () => {
  const { text } = await new Telemetry(silentLog).watch(sources).scrape();
  const limit = (of: string) =>
    Number(text.split(`taskthread_memory_limit_bytes{of="${of}"} `)[1]?.split('\n')[0]);
  expect(limit('process')).toBeGreaterThan(process.memoryUsage.rss());
  expect(limit('process')).toBeLessThanOrEqual(totalmem());
  expect(limit('heap')).toBe(getHeapStatistics().heap_size_limit);
});

test.each([
  ['is away', () => Promise.reject(new Error('gone'))],
  ['hangs', () => new Promise<never>(() => undefined)],
])(
  'while the database %s, the figures of this process are told, and those that it has are not',
  async (_, away) => {
    let read: () => Promise<typeof figures> = async () => figures;
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const metrics = new Telemetry(silentLog).watch({ ...sources, stats: () => read() });
    expect((await metrics.scrape()).text).toContain('taskthread_database_up 1\n');
    read = away;
    vi.advanceTimersByTime(10_000);
    const { text } = await metrics.scrape();
    expect(text).toContain('taskthread_database_up 0\n');
    expect(text).toContain('taskthread_threads_held 4\n');
    expect(text).not.toMatch(/^taskthread_(messages_waiting|oldest_waiting_seconds|turns|feedback)\b/m);
  },
);
