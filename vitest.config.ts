import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first-sequencer.ts';

// As in the image: some packages bring other, slower code for development.
process.env.NODE_ENV = 'production';

export default defineConfig({
  test: {
    globalSetup: 'test/support/global-setup.ts',
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    // What does not happen in time on a busy machine is tried once more, and named by CI; a wrong value never is.
    retry: {
      count: 1,
      condition: /did not happen|timed out in|did not succeed in time|connection timeout|timeout expired/i,
    },
    // Far more than two cores need, because tests wait five times as long as they compute; each further one costs its start.
    maxWorkers: 14,
    // What a test makes is garbage soon, and there is much of it: with room for it, collecting costs less.
    execArgv: ['--max-semi-space-size=32'],
    sequence: { sequencer: LongestFirst },
    // Node runs the files itself, as in the image, and keeps what it compiled.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/vitest-setup.ts'],
    // All files of a worker share its modules: a worker with modules of its own costs more than most files.
    isolate: false,
  },
});
