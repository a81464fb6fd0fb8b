import { describe, expect, test } from 'vitest';
import { printAudit } from '../../src/operate/audit.ts';
import { forget, parseForgetRequest } from '../../src/operate/forget.ts';
import { parseTimeRange } from '../../src/operate/time-range.ts';
import { Store } from '../../src/store/store.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const store = new Store((await freshDatabase()).kysely);

describe('npm run audit', () => {
  test('prints each row as a line of JSON', async () => {
    await store.audit.add({ workspace: 'T1', kind: 'refusal', user_id: 'U1', details: { why: 'guest' } });
    const lines: string[] = [];
    await printAudit(store, parseTimeRange('audit', ['--since', '2020-01-01']), (line) => lines.push(line));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      {
        at: expect.stringMatching(/Z$/),
        workspace: 'T1',
        kind: 'refusal',
        user_id: 'U1',
        details: { why: 'guest' },
      },
    ]);
  });

  test.each([[[]], [['--since', 'yesterday']], [['--since', '2026-01-01', '--unknown']]])(
    'shows how it goes for %j',
    (args) => {
      expect(() => parseTimeRange('audit', args)).toThrow('Usage: npm run audit');
    },
  );
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
    await forget(
      store,
      request,
      async ({ task_id }) => void deleted.push(task_id),
      (line) => lines.push(line),
    );
    expect(deleted).toEqual(['task-0']);
    expect(lines[0]).toBe('Deleted task task-0 at the agent service (1 of 1).');
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

  test('deletes a workspace, and says if it was interrupted', async () => {
    const run = async (signal: AbortSignal) => {
      const lines: string[] = [];
      const request = parseForgetRequest(['--workspace', 'T1', '--everything']);
      const never = () => Promise.reject(new Error('No task is to be deleted.'));
      await forget(store, request, never, (line) => lines.push(line), signal);
      return lines.join('\n');
    };
    expect(await run(AbortSignal.abort())).toMatch(/^Deleted 0 rows of T1.\n.*Run the command again/);
    expect(await run(new AbortController().signal)).toMatch(/^Deleted [1-9]\d* rows of T1.\n.*still exist/);
    await expect(run(new AbortController().signal)).rejects.toThrow('nothing of the workspace T1');
  });
});
