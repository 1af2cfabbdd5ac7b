import { execFileSync } from 'node:child_process';

/** Compiles the program once before the suite: tests of the command line run what users run. */
export default function setup(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
