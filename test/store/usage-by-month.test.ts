import { type KyselyPlugin, sql } from 'kysely';
import { expect, test } from 'vitest';
import { Store } from '../../src/store/store.ts';
import { lastTwoMonths, Usage } from '../../src/store/usage-by-month.ts';
import { freshDatabase } from '../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

test('any number of people are counted in one statement a month, each once, within the time and the workspace', async () => {
  await sql`
    insert into audit_events (workspace, kind, user_id, channel, at, details)
    select workspace, 'turn', 'U' || person, 'C1', at, jsonb_build_object('sent', true, 'outcome', outcome,
      'model', null, 'seconds', 30, 'filesIn', 1, 'filesOut', 2)
    from generate_series(1, 1200) as person, (values ('T1'), ('T2')) as workspaces (workspace),
      (values (timestamptz '2026-10-31 23:59Z', 'completed'), ('2026-11-01 00:00Z', 'cancelled'),
        ('2026-12-01 00:00Z', 'failed')) as turns (at, outcome)`.execute(kysely);
  const range = { since: new Date('2026-10-01'), until: new Date('2026-12-01'), workspace: 'T1' };
  const people = new Set<string>();
  let answers = 0;
  let statements = 0;
  const counting: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  for await (const row of new Usage(kysely.withPlugin(counting)).read(range, 'person')) {
    people.add(`${row.month} ${row.person}`);
    answers += row.answers;
    expect(row).toMatchObject({ workspace: 'T1', questions: 1, minutes: 0.5, filesOut: 2, thumbsUp: 0 });
  }
  expect(statements).toBe(1 + 2);
  expect(people.size).toBe(2_400);
  expect(answers).toBe(1_200);
  const months: unknown[] = [];
  for await (const { month, questions, stops, failures } of store.usage.read({
    since: range.since,
    workspace: 'T1',
  }))
    months.push([month, questions, stops, failures]);
  expect(months).toEqual([
    ['2026-10', 1_200, 0, 0],
    ['2026-11', 1_200, 1_200, 0],
    ['2026-12', 1_200, 0, 1_200],
  ]);
});

test.each([
  ['2027-01-04T00:00:00Z', '2026-12-01T00:00:00.000Z'],
  ['2026-12-31T23:59:59Z', '2026-11-01T00:00:00.000Z'],
])('the figures that are shown at %s begin at %s', (now, since) => {
  expect(lastTwoMonths({ workspace: 'T1' }, new Date(now))).toEqual({
    workspace: 'T1',
    since: new Date(since),
  });
});
