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
    // More than two cores need, because many tests wait; each further one costs its start and slows the others.
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    // Node runs the files itself, as in the image, and keeps what it compiled.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/support/vitest-setup.ts'],
    // All files of a worker share its modules: a worker with modules of its own costs more than most files.
    isolate: false,
  },
});
