import { defineConfig } from 'vitest/config';
import { TAGS } from '../suite/tags.ts';
import { roomNow } from './rooms.ts';

process.env['TZ'] = 'Pacific/Auckland';

/** The tests of a room, in one thread that stays, see `stryker-runner.ts`. */
export default defineConfig({
  test: {
    include: [...roomNow().tests],
    setupFiles: ['test/support/suite/memory-only.ts'],
    runner: './test/support/mutation/resident-tests.ts',
    tags: [...TAGS],
    pool: 'threads',
    maxWorkers: 1,
    isolate: false,
    reporters: [],
    // The runner of Stryker has a time-out for each mutant.
    testTimeout: 300_000,
  },
});
