import { expect, test } from 'vitest';
import { openScene } from './scene.ts';

test('a restart in the middle of an answer never takes text away that people could read', async ({
  onTestFinished,
}) => {
  const scene = await openScene({}, onTestFinished);
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 200');
  const first = () => scene.replies(channel, root)[0];
  const words = /Second 1 of/;
  await scene.until('the answer grows', () => words.test(first()?.text ?? ''));
  await scene.stage.restartBot();
  await scene.finished(channel, root);
  const versions = first()?.versions ?? [];
  const begun = versions.findIndex(({ text }) => words.test(text));
  expect(begun).toBeGreaterThan(0);
  expect(versions.slice(begun).filter(({ text }) => !words.test(text))).toEqual([]);
  expect(scene.replies(channel, root).filter(({ text }) => /working/.test(text))).toEqual([]);
});
