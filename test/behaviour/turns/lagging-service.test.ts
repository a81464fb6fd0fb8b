import { expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';

test('a reply that the service shows seconds after its message still arrives', async ({ onTestFinished }) => {
  const scene = await openAppScene({ agent: { behaviour: { startLagMs: 8_000 } } }, onTestFinished);
  const channel = scene.channel();
  const root = scene.ask(channel, '/slow 2 late');
  await scene.finished(channel, root);
  expect(scene.shown(channel, root)).toContain('Second 2 of 2');
  expect(scene.shown(channel, root)).not.toContain(strings.emptyAnswer);
});
