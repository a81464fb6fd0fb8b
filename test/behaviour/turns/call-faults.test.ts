import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { COMPLETE_TRACE, TURN_STEP_CALLS, type TurnStepCall } from '../../support/turn-step-calls.ts';
import { openTurnStepScene } from '../../support/turn-step-scene.ts';

const busy = { status: 429, headers: { 'retry-after': '1' } };

/** What goes wrong with one call, and how that looks at the step. */
const faults: { what: string; fault: (step: TurnStepCall) => Fault }[] = [
  { what: 'is answered with a server error', fault: () => ({ kind: 'status', status: 503 }) },
  { what: 'is cut off before it takes effect', fault: () => ({ kind: 'cut' }) },
  { what: 'takes effect but its answer is lost', fault: () => ({ kind: 'lost' }) },
  { what: 'is told to wait', fault: () => ({ kind: 'status', ...busy }) },
  { what: 'is slow and takes effect too late', fault: ({ slowMs }) => ({ kind: 'latency', ms: slowMs }) },
];

describe.concurrent('each call of a turn that', () => {
  test.for(faults)(
    '$what leaves one message, one reply and its results once',
    async ({ fault }, { onTestFinished }) => {
      const steps = await openTurnStepScene({}, onTestFinished);
      const turns = TURN_STEP_CALLS.map((call) => ({ call, turn: steps.begin(call, fault(call)) }));
      const traces = await Promise.all(
        turns.map(async ({ call, turn }) => [call.step, await steps.trace(turn)] as const),
      );
      expect(Object.fromEntries(traces)).toEqual(
        Object.fromEntries(TURN_STEP_CALLS.map(({ step }) => [step, COMPLETE_TRACE])),
      );
    },
  );
});
