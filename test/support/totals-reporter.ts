import type { Reporter, TestModule } from 'vitest/node';

/** Prints what was skipped and why, and one plain line of totals as the last line of the run. */
export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]): void {
    const totals = { passed: 0, failed: errors.length, skipped: 0 };
    const reasons: string[] = [];
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === 'passed' || state === 'failed' || state === 'skipped') totals[state] += 1;
        if (state === 'skipped') reasons.push(`  ${test.fullName}: ${reasonOf(test.result())}`);
      }
      if (module.state() === 'failed' && module.children.size === 0) totals.failed += 1;
    }
    // After the default reporter, which prints its own summary in the same event.
    setImmediate(() => {
      if (reasons.length > 0) process.stdout.write(`\nSkipped:\n${reasons.join('\n')}\n`);
      process.stdout.write(
        `\nTests: ${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped\n`,
      );
    });
  }
}

function reasonOf(result: object): string {
  return 'note' in result && typeof result.note === 'string' ? result.note : 'no reason given';
}
