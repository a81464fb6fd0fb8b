import { describe, expect, test } from 'vitest';
import type { Fault } from '../../../sandbox/faults.ts';
import { COMPLETE_TRACE, TURN_STEP_GROUPS, type TurnStepCall } from '../../support/turn-step-calls.ts';
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

describe.concurrent('each call of a turn that', async () => {
  // Ten turns at a time.
  const steps = await openTurnStepScene({ DATABASE_CONNECTIONS: '12' });

  test.for(faults)('$what leaves one message, one reply and its results once', async ({ fault }) => {
    const turns = TURN_STEP_GROUPS.map((calls) => ({ calls, turn: steps.begin(calls, fault) }));
    const traces = await Promise.all(turns.map(async ({ turn }) => steps.trace(turn)));
    expect(traces).toEqual(turns.map(({ calls }) => ({ ...COMPLETE_TRACE, faults: calls.length })));
  });
});
