import { sql } from 'kysely';
import { v7 as nextId } from 'uuid';
import { beforeEach, describe, expect, test } from 'vitest';
import type { AuditRange } from '../../src/store/audit-trail.ts';
import type { AuditRow } from '../../src/store/schema.ts';
import { Store } from '../../src/store/store.ts';
import { taskIntentUpdate } from '../../src/store/threads/threads.ts';
import { WHOLE_WORKSPACE } from '../../src/store/workspaces/settings-store.ts';
import { freshDatabase } from '../support/fresh-database.ts';
import { mostRowsRead } from '../support/rows-read.ts';
import { waitFor } from '../support/wait-for.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
let seconds = 1_700_000_000;

async function rows(range: Partial<AuditRange> = {}): Promise<AuditRow[]> {
  const found: AuditRow[] = [];
  for await (const row of store.audit.read({ since: new Date(0), ...range })) found.push(row);
  return found;
}

/** A person's message in a thread that is ours, and its turn. */
async function begun(person = 'U1', workspace = 'T1') {
  seconds += 1;
  const ts = `${seconds}.000100`;
  const thread = { workspace, channel: 'C1', thread_ts: ts };
  await store.threads.adopt(thread, { account_id: 'settings', user_id: person, ts });
  const words = { text: 'secret words', files: [{ id: `F${seconds}` }] };
  const key = { workspace, channel: 'C1', ts };
  await store.messages.add(key, {
    thread_ts: ts,
    user_id: person,
    state: 'waiting',
    content: words,
    edited_ts: null,
  });
  const message = await store.messages.get(key);
  if (message === undefined) throw new Error('the message was not written');
  return { key, thread, turn: await store.turns.begin(nextId(), message) };
}

beforeEach(async () => {
  await store.workspaceErasure.eraseWorkspace('T1');
  await store.workspaceErasure.eraseWorkspace('T2');
});

describe('the audit trail', () => {
  test('has one event for a turn that ends, and one for its stop', async () => {
    const { turn, key, thread } = await begun();
    await taskIntentUpdate(thread, { projectId: 'prj_1', title: 'A question', model: 'fast' }).execute(
      store.db,
    );
    await store.turns.countAttempt(turn);
    await store.threads.bindTask(thread, 'task-1');
    await store.turns.record(turn, {
      attached_file_ids: ['file-1', 'file-2'],
      uploaded_bytes: 30,
      skill: 'omics',
    });
    await store.turns.record(turn, { user_message_id: 'message-1' });
    await store.stopRequests.record(
      { workspace: 'T1', turn_id: turn.id, user_id: 'U2', ts: '10.000000' },
      10,
    );
    await store.stopRequests.record(
      { workspace: 'T1', turn_id: turn.id, user_id: 'U3', ts: '11.000000' },
      10,
    );
    await store.results.claim(turn, '', [{ id: 'result-1' }]);
    await store.turns.record(turn, { settled_at: new Date(), tool_counts: { plot: 2 } });
    await store.turns.finish(turn, 'cancelled');
    await store.turns.finish(turn, 'completed');
    expect(await rows()).toMatchObject([
      { kind: 'stop', user_id: 'U2', turn_id: turn.id },
      {
        kind: 'turn',
        workspace: 'T1',
        user_id: 'U1',
        channel: 'C1',
        thread_ts: key.ts,
        turn_id: turn.id,
        details: {
          message: key.ts,
          outcome: 'cancelled',
          model: 'fast',
          skill: 'omics',
          tools: { plot: 2 },
          filesIn: 2,
          bytesIn: 30,
          filesOut: 1,
          seconds: expect.any(Number),
          retries: 1,
          stoppedBy: 'U2',
        },
      },
    ]);
  });

  test('has an event for a withdrawn message, and none if the transaction fails', async () => {
    const { key, turn } = await begun();
    const failing = store.transaction(async ({ messages, turns }) => {
      await messages.withdraw(key);
      await turns.finish(turn, 'withdrawn');
      throw new Error('and then it failed');
    });
    await expect(failing).rejects.toThrow('and then it failed');
    expect(await rows()).toEqual([]);
    await store.messages.withdraw(key);
    expect(await rows()).toMatchObject([{ kind: 'withdrawal', user_id: 'U1', details: { message: key.ts } }]);
  });

  test('contains no text from people, nor a model or skill that the service did not accept', async () => {
    const { turn, thread } = await begun();
    await taskIntentUpdate(thread, {
      projectId: 'prj_1',
      title: 'secret title',
      model: 'secret model',
    }).execute(store.db);
    await store.threads.forgetTaskIntent(thread);
    await store.turns.record(turn, { prompt: 'secret words', skill: 'secret skill' });
    await store.turns.finish(turn, 'refused');
    expect(await rows()).toMatchObject([{ details: { model: null, skill: null } }]);
    expect(JSON.stringify(await rows())).not.toContain('secret');
  });

  test('counts the refusals of a person in a place in one row an hour, and no other change', async () => {
    const refused = {
      workspace: 'T1',
      user_id: 'U1',
      channel: 'C1',
      details: { control: 'stop', why: 'stranger' },
    };
    for (let times = 1; times <= 50; times += 1) await store.audit.addRefusal(refused);
    await store.audit.addRefusal({ ...refused, user_id: 'U2' });
    await store.audit.addRefusal({ ...refused, channel: 'C2' });
    expect((await rows()).map(({ user_id, channel, details }) => [user_id, channel, details.count])).toEqual([
      ['U1', 'C1', 50],
      ['U2', 'C1', undefined],
      ['U1', 'C2', undefined],
    ]);
    for (const details of ['{"count": 1}', '{"control": "stop", "why": "stranger", "count": 49}'])
      await expect(
        sql`update audit_events set details = ${details}::jsonb where channel = 'C1' and user_id = 'U1'`.execute(
          kysely,
        ),
      ).rejects.toThrow('only added to');
  });

  test.each([
    ['changed', sql`update audit_events set user_id = 'U9'`],
    ['deleted', sql`delete from audit_events`],
    ['emptied', sql`truncate audit_events`],
  ])('cannot be %s', async (_, statement) => {
    await store.audit.add({ workspace: 'T1', kind: 'refusal', user_id: 'U1' });
    await expect(statement.execute(kysely)).rejects.toThrow('the audit trail is only added to');
    expect(await rows()).toHaveLength(1);
  });

  test('is read by time and workspace, oldest first, over many pages', async () => {
    const half = async () => {
      await kysely
        .insertInto('audit_events')
        .values(
          Array.from({ length: 700 }, () => ({ workspace: 'T1', kind: 'setting', details: '{}' }) as const),
        )
        .execute();
      await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await half();
    const middle = new Date();
    await new Promise((resolve) => setTimeout(resolve, 5));
    await half();
    await store.audit.add({ workspace: 'T2', kind: 'setting' });
    const all = await rows();
    expect(new Set(all.map(({ id }) => id)).size).toBe(1_401);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort((a, b) => a - b));
    expect(await rows({ until: middle })).toHaveLength(700);
    expect(await rows({ since: middle, workspace: 'T1' })).toHaveLength(700);
    expect(await rows({ workspace: 'T2' })).toHaveLength(1);
  });

  test('is read in pages that take their own events alone', async () => {
    await sql`insert into audit_events (workspace, kind) select 'T1', 'setting' from generate_series(1, 3000)`.execute(
      kysely,
    );
    await sql`analyze audit_events`.execute(kysely);
    expect(await mostRowsRead(kysely, () => rows())).toBe(500);
  });

  test('loses the events that are past their time, and only those', async () => {
    await store.audit.add({ workspace: 'T1', kind: 'setting' });
    await kysely
      .insertInto('audit_events')
      .values({
        workspace: 'T1',
        kind: 'deletion',
        at: sql<Date>`now() - interval '366 days'`,
        details: '{}',
      })
      .execute();
    await store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
    expect(await rows()).toMatchObject([{ kind: 'setting' }]);
  });
});

/** Every row of every table, as text. */
async function everything(): Promise<string> {
  const tables = await sql<{ name: string }>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'workspace'`.execute(kysely);
  const texts = tables.rows.map(async ({ name }) =>
    JSON.stringify((await sql`select * from ${sql.table(name)}`.execute(kysely)).rows),
  );
  return (await Promise.all(texts)).join('\n');
}

describe('erasure', () => {
  test("erases a person's text, file names and id, and keeps those of others", async () => {
    const gone = await begun('UGONE');
    const kept = await begun('UKEPT');
    for (const { turn, key } of [gone, kept]) {
      const name = `${turn.asked_by} results.csv`;
      const upload = { workspace: 'T1', slack_file_id: `F${Number(key.ts) | 0}`, project_id: 'p' };
      await store.uploads.finish(upload, { file_id: `file of ${turn.id}`, size_bytes: 1, sha256: null });
      await store.turns.record(turn, {
        prompt: `words of ${turn.asked_by}`,
        attached_file_ids: [`file of ${turn.id}`],
        file_notes: [{ name, reason: null }],
      });
      await store.stopRequests.record(
        { workspace: 'T1', turn_id: turn.id, user_id: 'UGONE', ts: '10.000000' },
        10,
      );
      await store.feedback.rate({ workspace: 'T1', turn_id: turn.id, user_id: 'UGONE' }, true);
      await store.turns.finish(turn, 'completed');
    }
    const waiting = await begun('UGONE');
    await store.settings.set('T1', WHOLE_WORKSPACE, 'UGONE', { allowed_users: 'guests', allowed_bots: null });
    await store.settings.set('T1', 'C1', 'UGONE', { allowed_users: 'guests' });
    expect(await everything()).toContain('UGONE');
    expect(await store.personErasure.eraseUser('T1', 'UGONE')).toBe(2);
    const left = await everything();
    expect(left).not.toContain('UGONE');
    expect(left).toContain('words of UKEPT');
    expect(left).toContain('UKEPT results.csv');
    expect((await store.messages.get(waiting.key))?.state).toBe('withdrawn');
    expect((await rows()).at(-1)).toMatchObject({ kind: 'forget', user_id: null });
    const ends = (await rows()).filter(({ kind }) => kind === 'turn');
    expect(ends.map(({ user_id, details }) => [user_id, 'stoppedBy' in details])).toEqual([
      [null, false],
      ['UKEPT', false],
    ]);
    const before = await rows();
    expect(await store.personErasure.eraseUser('T1', 'UGONE')).toBeUndefined();
    expect(await rows()).toEqual(before);
  });

  test('leaves no name to a turn that begins with what was read before, and no words to a task that is starting', async () => {
    const { key, thread, turn } = await begun('UGONE');
    const intent = { projectId: 'prj_1', title: 'words of UGONE', model: 'model of UGONE' };
    await taskIntentUpdate(thread, intent).execute(kysely);
    const later = { ...key, ts: `${seconds}.000200` };
    const waiting = { thread_ts: key.ts, user_id: 'UGONE', state: 'waiting', edited_ts: null } as const;
    await store.messages.add(later, { ...waiting, content: { text: 'a' } });
    const [read, second] = [await store.messages.get(key), await store.messages.get(later)];
    if (read === undefined || second === undefined) throw new Error('They were not written.');
    expect(await everything()).toContain('words of UGONE');
    await store.personErasure.eraseUser('T1', 'UGONE');
    await store.turns.reassign(turn, second);
    await store.turns.begin(nextId(), read, turn.id);
    await store.turns.finish(turn, 'withdrawn');
    expect(await everything()).not.toContain('UGONE');
    expect((await rows()).at(-1)).toMatchObject({ kind: 'turn', user_id: null });
  });

  test('reads few rows for each message of a person, however many they wrote in one channel', async () => {
    const many = 2_000;
    await sql`
      insert into messages (workspace, channel, ts, thread_ts, user_id, state)
      select 'T2', 'C1', number, number, 'UMANY', 'sent' from generate_series(1, ${many}::int) as number`.execute(
      kysely,
    );
    await sql`
      insert into turns (workspace, id, channel, thread_ts, message_ts, asked_by, prompt)
      select 'T2', gen_random_uuid(), 'C1', number, number, 'UMANY', 'words' from generate_series(1, ${many}::int) as number`.execute(
      kysely,
    );
    await sql`
      update messages set resends_turn_id = turns.id, thread_ts = turns.thread_ts, user_id = 'UOTHER', content = '{"text": "words"}'
      from turns where messages.workspace = 'T2' and messages.ts = 1001 and turns.workspace = 'T2' and turns.message_ts = 1000`.execute(
      kysely,
    );
    const rowsRead = async () => {
      const { rows } = await sql<{ count: number }>`
        select (seq_tup_read + idx_tup_fetch)::int as count from pg_stat_user_tables where relname = 'messages'`.execute(
        kysely,
      );
      return rows[0]?.count ?? 0;
    };
    const before = await rowsRead();
    expect(await store.personErasure.eraseUser('T2', 'UMANY')).toBe(many - 1);
    // PostgreSQL counts a moment later.
    const read = await waitFor(async () => {
      const count = (await rowsRead()) - before;
      expect(count).toBeGreaterThan(2 * many);
      return count;
    });
    expect(read).toBeLessThan(100 * many);
    const left = await sql`
      select from messages where workspace = 'T2' and (user_id = 'UMANY' or content is not null)`.execute(
      kysely,
    );
    expect(left.rows).toEqual([]);
  });

  test('recognizes an erased message when Slack delivers it again', async () => {
    const { key } = await begun('UGONE');
    await store.personErasure.eraseUser('T1', 'UGONE');
    const again = {
      thread_ts: key.ts,
      user_id: 'UGONE',
      state: 'waiting',
      content: { text: 'a' },
      edited_ts: null,
    } as const;
    expect(await store.messages.add(key, again)).toBe(false);
  });

  test('lists the tasks that a person started or wrote in, and those in which nobody else wrote', async () => {
    const { thread } = await begun('U1');
    await store.threads.bindTask(thread, 'task-1');
    await kysely
      .updateTable('threads')
      .set({ participant_ids: ['U1', 'U2'] })
      .where('task_id', '=', 'task-1')
      .execute();
    expect(await store.tasks.joinedBy('T1', 'U1')).toMatchObject([{ task_id: 'task-1', alone: false }]);
    expect(await store.tasks.joinedBy('T1', 'U2')).toMatchObject([{ task_id: 'task-1', alone: false }]);
    const others = (await begun('U3')).thread;
    for (const task of ['task-2', 'task-3']) {
      await store.threads.leaveTask(others, 'task-2');
      await store.threads.bindTask(others, task);
    }
    await kysely
      .updateTable('threads')
      .set({ participant_ids: ['U4'] })
      .where('task_id', '=', 'task-3')
      .execute();
    expect(await store.tasks.joinedBy('T1', 'U4')).toMatchObject([
      { task_id: 'task-2', alone: false },
      { task_id: 'task-3', alone: false },
    ]);
    expect(await store.tasks.joinedBy('T2', 'U1')).toEqual([]);
  });

  test('deletes every row of a workspace and none of another', async () => {
    await begun('U1', 'T1');
    const { turn } = await begun('U1', 'T2');
    await store.turns.finish(turn, 'completed');
    expect(await store.workspaceErasure.eraseWorkspace('T1')).toBeGreaterThan(2);
    const left = await everything();
    expect(left).not.toContain('"T1"');
    expect(left).toContain(turn.id);
  });

  /** Adds rows of many messages that nobody answered. */
  async function grow(workspace: string, count: number): Promise<void> {
    await sql`
      insert into orphan_replies (workspace, channel, thread_ts, ts)
      select ${workspace}, 'C1', 1700000000, 1700000000 + n from generate_series(1, ${count}::int) as n`.execute(
      kysely,
    );
  }

  test('deletes a large workspace in batches, and another call continues after an interruption', async () => {
    await grow('T1', 2_500);
    await begun('U1', 'T1');
    await store.workspaces.put({ workspace: 'T1', name: 'One', bot_user_id: 'U0', bot_id: 'B0' });
    const stop = new AbortController();
    const parts: number[] = [];
    const onPart = (rows: number) => {
      parts.push(rows);
      if (rows >= 2_000) stop.abort();
    };
    const first = await store.workspaceErasure.eraseWorkspace('T1', {
      mayContinue: async () => !stop.signal.aborted,
      onProgress: onPart,
    });
    const steps = parts.map((rows, index) => rows - (parts[index - 1] ?? 0));
    expect(Math.max(...steps)).toBe(1_000);
    expect(first).toBeLessThan(2_500);
    expect(await everything()).toContain('"T1"');
    expect(await store.workspaceErasure.eraseWorkspace('T1')).toBeGreaterThan(500);
    expect(await everything()).not.toContain('"T1"');
  });

  test('deletes an uninstalled workspace gradually, and stops once it is installed again', async () => {
    const leave = () =>
      sql`update workspaces set uninstalled_at = now() - interval '31 days'`.execute(kysely);
    const row = { workspace: 'T1', name: 'One', bot_user_id: 'U0', bot_id: 'B0' };
    await grow('T1', 3_500);
    await grow('T2', 10);
    await store.workspaces.put(row);
    await leave();
    expect(await store.workspaceErasure.eraseUninstalled(30, 2_000)).toBe(2_000);
    await store.workspaces.put(row);
    expect(await store.workspaceErasure.eraseUninstalled(30, 2_000)).toBe(0);
    await leave();
    expect(await store.workspaceErasure.eraseUninstalled(30, 2_000)).toBe(1_501);
    expect(await store.workspaceErasure.eraseUninstalled(30, 2_000)).toBe(0);
    const left = await everything();
    expect(left).not.toContain('"T1"');
    expect(left).toContain('"T2"');
  });
});
