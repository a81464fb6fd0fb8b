import { expect, test } from 'vitest';
import { recordNotes } from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { unpackedRecord } from '../../support/unpacked-record.ts';

const scene = await openAppScene({ limits: { watchMs: 60_000, watchIntervalMs: 200 } });
const { slack, ada } = scene;
const table = { name: 'sheep.csv', mime: 'text/csv', bytes: 'name,legs\nDolly,4\n' };

test('the record of a task holds no file and no review of the agent of which somebody deleted the post or the file', async () => {
  const channel = scene.channel();
  const root = scene.ask(channel, 'Look at the sheep', { files: [table] });
  await scene.finished(channel, root);
  const showing = (text: string) =>
    scene.until(`there is a post with ${text}`, () =>
      scene.replies(channel, root).find((one) => slack.visibleText(one).includes(text)),
    );
  const commands = { '/files 2': 'note-1.txt', '/review All is well': 'All is well' };
  for (const [command, shown] of Object.entries(commands)) {
    await scene.finished(channel, scene.reply(channel, root, `And:\n${command}`));
    await showing(shown);
  }
  for (const text of ['note-1.txt', 'All is well']) slack.remove(channel, (await showing(text)).ts);
  const [chart = ''] = scene
    .replies(channel, root)
    .flatMap(({ fileIds }) => fileIds)
    .filter((id) => slack.file(id).name === 'sheep-chart.png');
  // Slack says of some deleted files that they were never there.
  const unknown = { kind: 'status', status: 200, body: { ok: false, error: 'file_not_found' } } as const;
  slack.faults.add({ call: 'files.info', about: chart, fault: unknown });
  const { ts, blocks } = await scene.messageWithButton(channel, root, 'menu');
  const value = /"(save_record\/[^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
  await slack.click({ person: ada, channel, ts, actionId: 'menu', value });
  const dm = slack.openDm(ada);
  const record = await scene.until(
    'the record is there',
    () => slack.messages(dm).flatMap(({ fileIds }) => fileIds ?? [])[0],
  );
  const { page, files } = await unpackedRecord(await slack.fileBytes(record));
  const names = [...files.keys()].join();
  for (const name of ['note-1.txt', 'note-2.txt', 'sheep-chart.png']) {
    expect(names).not.toContain(name);
    expect(page).toMatch(new RegExp(`${name}</td>.*not here: ${recordNotes.files.deleted}`));
  }
  expect(names).toContain('sheep-summary.csv');
  expect(page).not.toContain('<p>All is well</p>');
  expect(page).toContain(recordNotes.reviewDeleted);
});
