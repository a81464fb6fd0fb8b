import { onTestFinished, test, vi } from 'vitest';
import { openMultiWorkspaceScene } from '../../support/multi-workspace-scene.ts';

const { scene } = await openMultiWorkspaceScene();

test('expired rows, expiring tokens and deleted installations are looked for each minute', async () => {
  const { retention, installations } = scene.sandbox.bot.store;
  const looks = [
    vi.spyOn(retention, 'deleteExpired'),
    vi.spyOn(installations, 'hasDueRenewal'),
    vi.spyOn(installations, 'workspaceIds'),
  ];
  const counts = () => looks.map(({ mock }) => mock.calls.length);
  const before = counts();
  const now = performance.now.bind(performance);
  // The middle of the next minute: no other begins soon.
  const aheadMs = 90_000 - (now() % 60_000);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
  onTestFinished(() => clock.mockRestore());
  await scene.until('each is looked for', () => counts().every((count, at) => count > (before[at] ?? 0)));
  const after = counts();
  await scene.expectStays(counts, after);
});
