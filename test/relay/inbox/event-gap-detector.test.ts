import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { EventGapDetector } from '../../../src/relay/inbox/event-gap-detector.ts';
import { Store } from '../../../src/store/store.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { silentLog } from '../../support/silent-log.ts';

const { kysely } = await freshDatabase();
const store = new Store(kysely);

test('one statement records that quiet workspaces can be received, however many there are', async ({
  onTestFinished,
}) => {
  const ids = Array.from({ length: 40 }, (_, index) => `T${index}`);
  for (const workspace of ids)
    await store.workspaces.put({ workspace, name: 'lab', bot_user_id: 'U0', bot_id: 'B0' });
  const detector = new EventGapDetector({
    store,
    workspaces: () => ids,
    canReceiveEvents: () => true,
    minGapMs: 60_000,
    rebuildConnections: async () => undefined,
    log: silentLog,
  });
  onTestFinished(() => detector.stop());
  const query = vi.spyOn(pg.Client.prototype, 'query');
  detector.start();
  await expect.poll(() => query.mock.results.length).toBeGreaterThan(0);
  await query.mock.results[0]?.value;
  expect(query).toHaveBeenCalledTimes(1);
  query.mockRestore();
  const rows = await kysely.selectFrom('workspaces').select('last_receiving_at').execute();
  expect(rows.filter(({ last_receiving_at }) => last_receiving_at !== null)).toHaveLength(40);
});
