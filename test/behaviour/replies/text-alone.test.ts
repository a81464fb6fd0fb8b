import { expect, test } from 'vitest';
import type { Message } from '../../../sandbox/slack/slack-workspace.ts';
import { visibleText } from '../../../sandbox/slack/visible-text.ts';
import { unescapeHtml } from '../../../src/render/text-format.ts';
import { openAppScene } from '../../support/app-scene.ts';

const scene = await openAppScene();
const { slack } = scene;

/** What people read, without what keeps it from notifying anybody. */
function plain(text: string): string {
  return unescapeHtml(text).replaceAll('\u2060', '');
}

/** The lines of the sections and context lines of a message that its text lacks. */
function missingIn({ text, blocks }: Pick<Message, 'text' | 'blocks'>): string[] {
  const said = (blocks ?? []).flatMap((block) => {
    if (block.type === 'context') return visibleText(block);
    return block.type === 'section' ? visibleText(block.text) : [];
  });
  const lines = said.flatMap((one) => plain(one).split('\n'));
  return lines.filter((line) => !plain(text).includes(line));
}

test('whatever the bot posts says what stands around the answer in its text, too', async () => {
  const channel = scene.channel();
  const words = [
    '/paper',
    '/tools 3',
    '/files 2',
    '/fail of <b> & co',
    '/lengthcut here',
    '/unknownblock',
    '',
  ];
  const roots = words.map((text) => scene.ask(channel, text));
  for (const root of roots) await scene.finished(channel, root);
  const slow = scene.ask(channel, '/slow 100000');
  const { ts } = await scene.messageWithButton(channel, slow, 'stop');
  scene.reply(channel, slow, 'What is this?', { person: scene.grace });
  const note = await scene.until('it waits', () => slack.ephemerals(scene.grace, channel)[0]);
  await slack.click({ person: scene.grace, channel, ts, actionId: 'stop' });
  await scene.messageWithButton(channel, slow, 'send_paused');
  await scene.finished(channel, slow);
  const posts = [...roots, slow].flatMap((root) => scene.replies(channel, root));
  expect(posts.length).toBeGreaterThan(words.length);
  expect([note, ...posts].flatMap(missingIn)).toEqual([]);
  expect(plain(scene.replies(channel, slow).at(0)?.text ?? '')).toContain(`Stopped by ${scene.grace.name}.`);
});
