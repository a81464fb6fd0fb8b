import { expect, test } from 'vitest';
import { openAppScene } from './app-scene.ts';
import { leftOpen } from './left-open.ts';

test('a scene counts as left open until it is closed', async () => {
  const closing: (() => Promise<void>)[] = [];
  const before = leftOpen.size;
  await openAppScene({}, (close) => void closing.push(close));
  expect(leftOpen.size).toBe(before + 1);
  for (const close of closing) await close();
  expect(leftOpen.size).toBe(before);
});
