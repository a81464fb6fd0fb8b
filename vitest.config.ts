import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/database-server.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // The tests of real processes and a real browser share two cores: one that missed its time is run once more.
    retry: process.env.CI === undefined ? 0 : 1,
  },
});
