import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/support/longest-first-sequencer.ts';

// As in the image: some packages bring other, slower code for development.
process.env.NODE_ENV = 'production';

/** Their clocks and timers are the tests' own: each file gets modules of its own. */
const ownModules = ['test/slack/**/*.test.ts'];

export default defineConfig({
  test: {
    globalSetup: ['test/support/compile-cache.ts', 'test/support/database-server.ts'],
    testTimeout: 180_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    // More than there are cores: most of them wait.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'shared modules',
          include: ['test/**/*.test.ts'],
          exclude: ownModules,
          setupFiles: ['test/support/vitest-setup.ts'],
          isolate: false,
        },
      },
      {
        extends: true,
        test: { name: 'own modules', include: ownModules, setupFiles: ['test/support/vitest-setup.ts'] },
      },
    ],
  },
});
