import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

/** Runs steps as .ci/run does; the last one ends with a code. */
function run(code: number) {
  const script = `
    set -euo pipefail
    . scripts/ci-steps.sh
    trap 'summarize "$?"' EXIT
    step 'first'
    true
    step 'second'
    (exit ${code})
  `;
  return spawnSync('bash', ['-c', script], { encoding: 'utf8' });
}

test('.ci/run ends with the seconds of each step, and names the one that failed', {
  tags: 'ci/upkeep',
}, () => {
  const passed = run(0);
  expect(passed.status).toBe(0);
  expect(passed.stdout).toMatch(
    /== summary\n +\d+ s +first\n +\d+ s +second\n +\d+ s +in all, exit code 0\n$/,
  );
  const failed = run(3);
  expect(failed.status).toBe(3);
  expect(failed.stdout).toMatch(
    /== summary\n +\d+ s +first\n +\d+ s +FAILED: second\n +\d+ s +in all, exit code 3\n$/,
  );
});
