import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    setupFiles: ['test/setup.ts'],
    testTimeout: 90_000,
    hookTimeout: 60_000,
    maxWorkers: 3,
  },
});
