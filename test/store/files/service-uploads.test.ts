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

test('what a process says of an upload after another one has finished it changes nothing', async () => {
  const key = { workspace: 'T1', slack_file_id: 'F2', project_id: 'prj_1' };
  await uploads.claim(key, turnId(1), 7);
  await uploads.finish(key, { file_id: 'file_2', size_bytes: 7, sha256: 'a' });
  const late = { multipart_id: 'm', part_size_bytes: 5, part_headers: {}, size_bytes: 7 };
  await uploads.recordStart(key, { ...late, file_id: 'file_late' });
  await uploads.recordPart(key, { number: 1, etag: 'e' });
  await uploads.markFinalizing(key);
  expect(await uploads.claim(key, turnId(2), 7)).toEqual({ kind: 'done', fileId: 'file_2' });
  expect([...(await uploads.sent('T1', ['file_2', 'file_late']))]).toEqual([
    ['file_2', { slackFileId: 'F2', sha256: 'a' }],
  ]);
});

test('what was sent names the file in Slack, also one that can be edited, and none for a table', async () => {
  const keys = [['F3'], ['F4', '1700000000.000100'], ['table-1.csv', 'F5']];
  for (const [index, parts] of keys.entries()) {
    const key = { workspace: 'T2', slack_file_id: parts.join('/'), project_id: 'prj_1' };
    await uploads.claim(key, turnId(1), 7);
    await uploads.finish(key, { file_id: `file_${index}`, size_bytes: 7, sha256: null });
  }
  const sent = await uploads.sent('T2', ['file_0', 'file_1', 'file_2']);
  expect([...sent.values()].map(({ slackFileId }) => slackFileId)).toEqual(['F3', 'F4', undefined]);
});
