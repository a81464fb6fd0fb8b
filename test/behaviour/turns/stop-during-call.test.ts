import { describe, expect, test } from 'vitest';
import * as strings from '../../../src/render/strings/index.ts';
import { openAppScene } from '../../support/app-scene.ts';
import { COMPLETE_TRACE, TURN_STEP_GROUPS } from '../../support/turn-step-calls.ts';
import { openTurnStepScene } from '../../support/turn-step-scene.ts';

/** Each group has a bot of its own: a stop would also hit the turns of others. */
const groups = TURN_STEP_GROUPS.map((calls) => ({ calls, steps: calls.map(({ step }) => step).join(', ') }));
const latencyMs = 400;

describe.concurrent('a process that restarts during a call', () => {
  test.for(groups)(
    'leaves one message, one reply and one set of results: $steps',
    async ({ calls }, context) => {
      // Without a drain: the call is cut off in its middle, and takes effect when nobody waits for its answer.
      const scene = await openTurnStepScene({ DRAIN_SECONDS: '0' }, context.onTestFinished);
      const turn = scene.begin(calls, () => ({ kind: 'latency', ms: latencyMs }));
      for (const [index, { step }] of calls.entries()) {
        await scene.scene.until(`the call of the ${step}`, () => scene.hits(turn) > index);
        await scene.scene.sandbox.restartBot();
      }
      expect(await scene.trace(turn)).toEqual({ ...COMPLETE_TRACE, faults: calls.length });
    },
  );

  test('again and again is not held against the turn, which finishes', async ({ onTestFinished }) => {
    const scene = await openAppScene({ settings: { DRAIN_SECONDS: '0' } }, onTestFinished);
    const channel = scene.channel();
    const root = scene.ask(channel, '/slow 9000');
    await scene.until('the reply grows', () => scene.shown(channel, root).includes('Second'));
    const attempts = async () => {
      const key = { workspace: scene.slack.team.id, channel: channel.id, ts: root.ts };
      return (await scene.sandbox.bot.store.turns.ofMessage(key))?.attempts;
    };
    for (let stop = 1; stop <= 4; stop += 1) {
      await scene.sandbox.restartBot();
      await scene.until('it is taken up', async () => (await attempts()) === stop);
    }
    // As if after more of them: the pause before it goes on is then longer than a restart takes.
    await scene.sandbox.bot.store.db.updateTable('turns').set({ attempts: 7 }).execute();
    await scene.sandbox.restartBot();
    await scene.sandbox.restartBot();
    expect(await attempts()).toBe(7);
    await scene.hurry('/slow 9000');
    await scene.finished(channel, root);
    expect(scene.shown(channel, root).split('Second 9000 of 9000')).toHaveLength(2);
    expect(scene.shown(channel, root)).not.toContain(strings.retriesExhausted);
  });
});
