import { execFileSync } from 'node:child_process';
import type { TestProject } from 'vitest/node';

/** True if only unit tests run: they need neither the compiled program nor a database. */
export const areUnitsOnly = ({ vitest }: TestProject): boolean =>
  vitest.projects.every(({ name }) => name === 'unit');

/**
 * Compiles the program once before the suite: tests of the command line run what users run. `npm run defects` keeps what is compiled:
 * it plants defects that tests find in the sources.
 */
export default function setup(project: TestProject): void {
  if (areUnitsOnly(project) || process.env['DAYWALK_TEST_BUILD'] === 'kept') return;
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
