import { describe, test } from 'vitest';
import { openServer } from './scene.ts';
import { openStepScene } from './step-scene.ts';
import { stepCalls } from './steps.ts';

await openServer();

/** Each group has a bot of its own: a stop would also hit the turns of others. */
const groups = [0, 1, 2, 3].map((group) => ({
  calls: stepCalls.filter((_, index) => index % 4 === group),
}));
const heldMs = 400;

describe.concurrent('a process that stops while a call is on its way, and starts again', () => {
  test.for(groups)(
    'leaves one message, one reply and its results once: group %#',
    async ({ calls }, context) => {
      // Without a drain: the call is cut off in its middle, and takes effect when nobody waits for its answer.
      const steps = await openStepScene({ DRAIN_SECONDS: '0' }, context.onTestFinished);
      for (const call of calls) {
        const turn = steps.begin(call, { kind: 'latency', ms: heldMs });
        await steps.scene.until(`the call of the ${call.step}`, () => steps.hits(turn) > 0);
        await steps.scene.stage.restartBot();
        await steps.whole(turn);
      }
    },
  );
});
