import { expect, test, vi } from 'vitest';
import { flattenSuppressedErrors } from '../../src/operate/command-runner.ts';
import { HealthServer } from '../../src/operate/http-server.ts';
import { JobRunner } from '../../src/relay/runtime/job-runner.ts';
import { openAppScene } from '../support/app-scene.ts';

/** Lets the next stop of such a part fail, once it has stopped. */
function failsToStop(part: HealthServer | JobRunner, why: string): void {
  const failing = vi.spyOn(part, 'stop');
  failing.mockImplementation(async function (this: typeof part) {
    failing.mockRestore();
    await this.stop();
    throw new Error(why);
  });
}

const { bot } = (await openAppScene()).sandbox;

test('parts that fail to stop do not keep others from closing, and each failure is reported', async () => {
  failsToStop(HealthServer.prototype, 'the door sticks');
  failsToStop(JobRunner.prototype, 'the jobs go on');
  const failed: unknown = await bot.stop().catch((error: unknown) => error);
  expect(flattenSuppressedErrors(failed).map(String)).toEqual([
    'Error: the jobs go on',
    'Error: the door sticks',
  ]);
  await expect(bot.store.installations.get('T1')).rejects.toThrow('calling end on the pool');
});
