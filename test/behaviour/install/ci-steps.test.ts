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

test('no part of a campaign begins after its time, and the summary says so', { tags: 'ci/upkeep' }, () => {
  const script = `
    set -euo pipefail
    . scripts/ci-steps.sh
    trap 'summarize "$?"' EXIT
    sample 'first' sh -c 'echo "ran $NUMBER"'
    SAMPLES_UNTIL=0
    sample 'second' false
  `;
  const { status, stdout } = spawnSync('bash', ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, NUMBER: '7' },
  });
  expect([status, stdout]).toEqual([0, expect.stringContaining('ran 7')]);
  expect(stdout).toMatch(
    /== summary\n +\d+ s +first\n +- s +LEFT OUT, the time was up: second\n +\d+ s +in all, exit code 0\n$/,
  );
});
