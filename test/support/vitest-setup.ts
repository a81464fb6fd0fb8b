import './own-imports.ts';
import fc from 'fast-check';
import { afterAll, beforeAll } from 'vitest';
import { RELAY_LIMITS } from '../../src/limits.ts';
import { file, leftOpen } from './left-open.ts';

// The same cases in every run, so that a failure can be had again; FC_SEED=<number> tries others.
fc.configureGlobal({ seed: Number(process.env.FC_SEED ?? 18) });

// A fault of a test is over before its bot tries again, which the test waits for.
RELAY_LIMITS.retryMs = 200;

file.isCollected = false;
beforeAll(() => {
  file.isCollected = true;
});

// The first of a file's, so that it runs after all others.
afterAll(() => {
  const left = [...leftOpen];
  leftOpen.clear();
  if (left.length > 0)
    throw new Error(
      `${left.length} scenes or databases were left open (${left.join(', ')}). What is opened in a hook or a test is closed by its onTestFinished, or by hand: afterAll comes too late there.`,
    );
});
