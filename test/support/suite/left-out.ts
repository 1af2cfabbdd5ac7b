import type { TestOptions } from 'vitest';

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is left out, if that is known before it begins. */
    leftOut?: string;
  }
}

/** The options of a test or a group of tests that is left out for a reason, which the summary prints; null runs it. */
export function leftOut(reason: string | null): TestOptions {
  return reason === null ? {} : { skip: true, meta: { leftOut: reason } };
}
