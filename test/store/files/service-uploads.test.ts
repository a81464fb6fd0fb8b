import { expect, test } from 'vitest';
import { ServiceUploads } from '../../../src/store/files/uploads.ts';
import { freshDatabase } from '../../support/fresh-database.ts';
import { lockWaits } from '../../support/lock-waits.ts';

const { kysely } = await freshDatabase();
const uploads = new ServiceUploads(kysely);
const turnId = (number: number) => `00000000-0000-7000-8000-00000000000${number}`;

test('an upload that another turn finishes while it is claimed is not made again', async () => {
  const key = { workspace: 'T1', slack_file_id: 'F1', project_id: 'prj_1' };
  expect((await uploads.claim(key, turnId(1), 7)).kind).toBe('ours');
  const { promise: finished, resolve: hasFinished } = Promise.withResolvers<void>();
  const { promise: waited, resolve: hasWaited } = Promise.withResolvers<void>();
  const finish = kysely.transaction().execute(async (trx) => {
    await new ServiceUploads(trx).finish(key, { file_id: 'file_1', size_bytes: 7, sha256: null });
    hasFinished();
    await waited;
  });
  await finished;
  const claim = uploads.claim(key, turnId(2), 7);
  await expect.poll(() => lockWaits(kysely)).toBe(1);
  hasWaited();
  await finish;
  expect(await claim).toEqual({ kind: 'done', fileId: 'file_1' });
  expect(await uploads.claim(key, turnId(3), 7)).toEqual({ kind: 'done', fileId: 'file_1' });
  expect(await uploads.claim(key, turnId(3), 8)).toMatchObject({ kind: 'ours' });
});
