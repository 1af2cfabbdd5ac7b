import { defineConfig } from 'vitest/config';

// Days are UTC whatever the machine's time zone is; a suite that ran under UTC could not tell.
process.env['TZ'] = 'Pacific/Auckland';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts', 'test/support/postgres/setup.ts'],
    reporters: ['default', './test/support/totals-reporter.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    // What a file imports is kept for the next one of its worker: half of the time went into imports.
    isolate: false,
  },
});
