import { expect, test } from 'vitest';
import type { SourceCheck, SourceId } from '../../../src/registries/source-check.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);
const DAY_MS = 86_400_000;
const found: SourceId = 'doi:10.1038/171737a0';
const missing: SourceId = 'pmid:334847';

function check(state: SourceCheck['state']): SourceCheck {
  return { state, by: 'crossref', checkedAt: new Date(0).toISOString(), title: 'A title \u0000' };
}

async function answered(workspace: string) {
  const answers = new Map([
    [found, check('retracted')],
    [missing, check('not_found')],
  ]);
  await store.registryAnswers.put(workspace, answers);
}

/** Lets time pass for what is kept. */
async function pass(days: number) {
  for (const { workspace, source_id, expires_at } of await kysely
    .selectFrom('registry_answers')
    .selectAll()
    .execute())
    await kysely
      .updateTable('registry_answers')
      .set({ expires_at: new Date(expires_at.getTime() - days * DAY_MS) })
      .where('workspace', '=', workspace)
      .where('source_id', '=', source_id)
      .execute();
}

const known = async (workspace: string) =>
  Object.keys(await store.registryAnswers.get(workspace, [found, missing, 'doi:10.1234/other'])).sort();
const rows = () => kysely.selectFrom('registry_answers').select(['workspace', 'source_id']).execute();

test('what a registry found is known for 30 days, and what it did not find for one', async () => {
  await answered('T1');
  expect(await known('T1')).toEqual([found, missing]);
  expect((await store.registryAnswers.get('T1', [found]))[found]).toMatchObject({ state: 'retracted' });
  expect(await known('T2')).toEqual([]);
  await pass(1.1);
  expect(await known('T1')).toEqual([found]);
  await answered('T1');
  expect(await known('T1')).toEqual([found, missing]);
  await pass(29);
  expect(await known('T1')).toEqual([found]);
  await pass(2);
  expect(await known('T1')).toEqual([]);
});

test('what is no longer known is deleted, and all of a workspace goes with it', async () => {
  await answered('T3');
  await answered('T4');
  await pass(2);
  await store.retention.deleteExpired({ words: 7, rows: 90, audit: 365, uninstalled: 30 });
  expect(await rows()).toEqual(['T3', 'T4'].map((workspace) => ({ workspace, source_id: found })));
  await store.workspaceErasure.eraseWorkspace('T3');
  expect(await rows()).toEqual([{ workspace: 'T4', source_id: found }]);
});
