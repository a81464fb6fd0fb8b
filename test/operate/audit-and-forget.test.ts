import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { describe, expect, inject, test } from 'vitest';
import { connectionUrl } from '../../sandbox/postgres-server.ts';
import { readCommandConfig } from '../../src/config/environment-and-secret-files.ts';
import { auditCommand } from '../../src/operate/audit.ts';
import { parseTimeRange } from '../../src/operate/command-runner.ts';
import { deleteAtService, forget, parseForgetRequest } from '../../src/operate/forget.ts';
import { errorMessage } from '../../src/postgres/errors.ts';
import { Store } from '../../src/store/store.ts';
import { services } from '../support/agent-test-client.ts';
import { compiledProgram } from '../support/compiled-programs.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const store = new Store((await freshDatabase()).kysely);
const start = services();

describe('npm run audit', () => {
  const audit = async (...args: string[]): Promise<unknown[]> => {
    const { rows } = await sql<{ database: string }>`select current_database() as database`.execute(store.db);
    const connection = { ...inject('databaseServer'), database: rows[0]?.database ?? '' };
    const env = { ...process.env, DATABASE_URL: connectionUrl(connection) };
    const all = [compiledProgram('src/operate/audit.ts'), ...args];
    const { stdout } = await promisify(execFile)(process.execPath, all, { env });
    return stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  };

  test('prints each row as a line of JSON, or a summary of the turns', async () => {
    await store.audit.add({ workspace: 'T1', kind: 'refusal', user_id: 'U1', details: { why: 'guest' } });
    await sql`
      insert into audit_events (workspace, kind, channel, at, details)
      values ('T2', 'turn', 'C1', '2026-11-05', '{"sent": true, "outcome": "completed", "seconds": 90}')`.execute(
      store.db,
    );
    const row = { workspace: 'T1', kind: 'refusal', user_id: 'U1', details: { why: 'guest' } };
    expect((await audit('--since', '2020-01-01', '--workspace', 'T1')).slice(0, 1)).toMatchObject([
      { ...row, at: expect.stringMatching(/Z$/) },
    ]);
    const used = { month: '2026-11', workspace: 'T2', channel: 'C1', questions: 1, answers: 1, minutes: 1.5 };
    expect(await audit('--summary', '--since', '2020-01-01')).toMatchObject([used]);
  });

  test.each([
    [[]],
    [['--since', 'yesterday']],
    [['--since', '2026-01-01', '--unknown']],
    // Nothing is of these, which would read as if nobody had asked anything.
    [['--since', '2026-02-01', '--until', '2026-01-01']],
    [['--since', '2026-01-01', '--until', '2026-01-01']],
    [['--since', '2026-01-01', '--workspace', 'lab']],
  ])('shows how it goes for %j', (args) => {
    expect(() => parseTimeRange(auditCommand, args)).toThrow('Usage: npm run -s audit');
  });
});

test('a summary that ends before it begins names the beginning, which nobody gave', () => {
  expect(() => parseTimeRange(auditCommand, ['--summary', '--until', '2020-01-01'])).toThrow(
    /^--until is not after 20\d\d-\d\d-01T00:00:00.000Z\.\n/,
  );
});

test('a summary without a time begins eleven months ago', () => {
  const { since, isSummary } = parseTimeRange(auditCommand, ['--summary']);
  const now = new Date();
  const months = (at: Date) => at.getUTCFullYear() * 12 + at.getUTCMonth();
  expect([isSummary, months(now) - months(since), since.getUTCDate()]).toEqual([true, 11, 1]);
});

describe('npm run forget', () => {
  test.each([
    [[]],
    [['--workspace', 'T1']],
    [['--workspace', 'lab', '--everything']],
    [['--workspace', 'T1', '--user', 'ada']],
    [['--workspace', 'T1', '--user', 'U1', '--everything']],
    [['--workspace', 'T1', '--everything', '--tasks']],
  ])('only shows its usage for %j', (args) => {
    expect(() => parseForgetRequest(args)).toThrow('Usage: npm run forget');
  });

  test("deletes a person's own tasks at the service, and lists those that others wrote in", async () => {
    for (const [index, writers] of [['U1'], ['U1', 'U2']].entries()) {
      const thread = { workspace: 'T1', channel: 'C1', thread_ts: `170000000${index}.000100` };
      await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread.thread_ts });
      await store.threads.bindTask(thread, `task-${index}`);
      await store.db
        .updateTable('threads')
        .set({ participant_ids: writers })
        .where('task_id', '=', `task-${index}`)
        .execute();
    }
    const deleted: string[] = [];
    const lines: string[] = [];
    const request = parseForgetRequest(['--workspace', 'T1', '--user', 'U1', '--tasks']);
    const deleteTask = async ({ task_id }: { task_id: string }) => {
      deleted.push(task_id);
      return 'deleted' as const;
    };
    await forget(store, request, deleteTask, (line) => lines.push(line));
    expect(deleted).toEqual(['task-0']);
    expect(lines[0]).toBe('Task task-0: deleted at the agent service (1 of 1).');
    expect(lines.join('\n')).toContain('still exist: task-1.');
    const stranger = parseForgetRequest(['--workspace', 'T1', '--user', 'U9']);
    const again = forget(
      store,
      stranger,
      () => Promise.reject(new Error('No task')),
      () => undefined,
    );
    await expect(again).rejects.toThrow('nothing of U9 in T1');
  });

  test('erases a person though a task cannot be deleted, which it names; nobody once it is interrupted', async () => {
    const outcomes = new Map<string, 'absent' | 'kept' | 'deleted'>([
      ['task-gone', 'absent'],
      ['task-keyless', 'kept'],
      ['task-left', 'deleted'],
    ]);
    for (const [index, task] of [...outcomes.keys()].entries()) {
      const thread = { workspace: 'T3', channel: 'C1', thread_ts: `170000010${index}.000100` };
      await store.threads.adopt(thread, { account_id: 'settings', user_id: 'U1', ts: thread.thread_ts });
      await store.threads.bindTask(thread, task);
    }
    const run = async (interrupt: (task: string) => void, signal: AbortSignal) => {
      const lines: string[] = [];
      const request = parseForgetRequest(['--workspace', 'T3', '--user', 'U1', '--tasks']);
      const deleteTask = async ({ task_id }: { task_id: string }) => {
        interrupt(task_id);
        return outcomes.get(task_id) ?? 'deleted';
      };
      await forget(store, request, deleteTask, (line) => lines.push(line), signal);
      return lines.join('\n');
    };
    for (const last of outcomes.keys()) {
      const interrupted = new AbortController();
      const interrupt = (task: string) => {
        if (task === last) interrupted.abort(new Error('Run it again'));
      };
      await expect(run(interrupt, interrupted.signal)).rejects.toThrow('Run it again');
    }
    expect(await store.tasks.joinedBy('T3', 'U1')).toHaveLength(3);
    const told = await run(() => undefined, new AbortController().signal);
    expect(told).toContain('Task task-gone: not found in its account');
    expect(told).toContain('Task task-keyless: not deleted, because the key of its account is gone');
    expect(told).toContain('still exist: task-keyless.');
    expect(await store.tasks.joinedBy('T3', 'U1')).toEqual([]);
  });

  test('deletes a task once, and says which key is missing, or is gone for good', async () => {
    const client = await start({ script: async () => {} });
    const { url, apiKey } = client.service;
    const task = { task_id: await client.newTask(), alone: true };
    const settings = { AGENT_BASE_URL: url, AGENT_API_KEY: apiKey, PRIVATE_HOSTS: '127.0.0.1' };
    const run = (more: Record<string, string>, account_id = 'settings') =>
      deleteAtService(readCommandConfig({ ...settings, ...more }), store, 'T1', { ...task, account_id });
    expect([await run({}), await run({})]).toEqual(['deleted', 'absent']);
    await expect(run({ AGENT_API_KEY: '' })).rejects.toThrow('Set AGENT_BASE_URL and AGENT_API_KEY');
    const account = { workspace: 'T1', account_id: 'own', base_url: url, set_by: 'U1' };
    await store.accounts.put({ ...account, encrypted_api_key: 'sealed' });
    await expect(run({}, 'own')).rejects.toThrow('Set SECRET_KEY');
    await store.accounts.remove('T1');
    await store.accounts.deleteUnusedKeys();
    expect(await run({}, 'own')).toBe('kept');
  });

  test('deletes a workspace, and says if it was interrupted', async () => {
    const run = async (signal: AbortSignal) => {
      const lines: string[] = [];
      const request = parseForgetRequest(['--workspace', 'T1', '--everything']);
      const never = () => Promise.reject(new Error('No task is to be deleted.'));
      const failure = await forget(store, request, never, (line) => lines.push(line), signal).catch(
        errorMessage,
      );
      return [...lines, failure].join('\n');
    };
    const interrupted = AbortSignal.abort(new Error('Run it again'));
    expect(await run(interrupted)).toBe('Deleted 0 rows of T1.\nRun it again');
    expect(await run(new AbortController().signal)).toMatch(/^Deleted [1-9]\d* rows of T1.\n.*still exist/);
    expect(await run(new AbortController().signal)).toContain('nothing of the workspace T1');
  });
});
