import { defineConfig } from 'vitest/config';
import { scratchFolder } from './test/support/suite/scratch-folder.ts';
import { TAGS } from './test/support/suite/tags.ts';

// Days are UTC whatever the machine's time zone is; a suite that ran under UTC could not tell.
process.env['TZ'] = 'Pacific/Auckland';
process.env['TMPDIR'] ??= scratchFolder();

const campaign = process.env['DAYWALK_CHAOS'] === '1' || process.env['DAYWALK_FUZZ'] === '1';

export default defineConfig({
  test: {
    globalSetup: ['test/support/suite/build-program.ts', 'test/support/postgres/provide-server.ts'],
    reporters: ['default', './test/support/suite/totals-reporter.ts'],
    // Only a hang ends a test, on however busy a machine; a test of a campaign holds hundreds of runs.
    testTimeout: campaign ? 7_200_000 : 300_000,
    hookTimeout: 300_000,
    // What is waited for comes at once, or much later on a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // One more than the cores of a small machine: many tests wait for a time-out, a process or the server.
    maxWorkers: 3,
    // What a file imports is kept for the next one of its worker: half of the time went into imports.
    isolate: false,
    tags: [...TAGS],
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['test/unit/**/*.test.ts'],
          setupFiles: ['test/support/suite/memory-only.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'behaviour',
          include: ['test/behaviour/**/*.test.ts'],
          exclude: ['test/behaviour/browser/**'],
          setupFiles: ['test/support/suite/read-here.ts'],
        },
      },
      { extends: true, test: { name: 'browser', include: ['test/behaviour/browser/**/*.test.ts'] } },
      { extends: true, test: { name: 'campaign', include: ['test/campaigns/**/*.test.ts'] } },
    ],
  },
});
