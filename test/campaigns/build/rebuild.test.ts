// @module-tag campaign/build

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { appendFileSync, cpSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IS_LONG } from '../../support/suite/campaign-length.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../../..');
const INPUTS = [
  'src',
  'schema',
  'jobs',
  'scripts',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'tsconfig.build.json',
];
const HOOK_CALLS = 15;
/** Builds in the suite, and in the campaign. */
const BUILDS = IS_LONG ? 3 : 1;
const PAUSE_MS = 100;

const run = promisify(execFile);

/** Clones the project, with or without the build of this suite. */
function clone({ built }: { readonly built: boolean }): string {
  const folder = tempDir();
  for (const input of [...INPUTS, ...(built ? ['dist'] : [])]) {
    cpSync(join(ROOT, input), join(folder, input), { recursive: true, preserveTimestamps: true });
  }
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return folder;
}

const build = (folder: string) => run(process.execPath, ['scripts/build.mjs'], { cwd: folder });
const main = (folder: string) => join(folder, 'dist/src/cli/main.js');
const version = (folder: string) => run(process.execPath, [main(folder), '--version']);
const strays = (folder: string) => readdirSync(folder).filter((name) => /^dist\./.test(name));

function startBuild(folder: string): ChildProcess {
  const child = spawn(process.execPath, ['scripts/build.mjs'], { cwd: folder, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

describe('a build', () => {
  test('does nothing if no input has changed', async () => {
    const folder = clone({ built: true });
    const before = statSync(main(folder)).mtimeMs;
    await build(folder);
    expect(statSync(main(folder)).mtimeMs).toBe(before);
    expect(strays(folder)).toEqual([]);
  });

  test(`breaks none of ${HOOK_CALLS} hook calls while ${BUILDS === 1 ? 'a build replaces' : `${BUILDS} builds replace`} the program by one with other files`, async () => {
    const folder = clone({ built: true });
    let builds = 0;
    const building = (async () => {
      for (; builds < BUILDS; builds += 1) {
        // In the last part that a hook call imports, so that every chunk above it has another name.
        appendFileSync(
          join(folder, 'src/core/errors.ts'),
          `\n(globalThis as Record<string, unknown>)['b${builds}'] = 1;\n`,
        );
        await build(folder);
      }
    })();

    const deaths: string[] = [];
    let calls = 0;
    const calling = async () => {
      while (calls < HOOK_CALLS || builds < BUILDS) {
        calls += 1;
        // A build must get on, too, on a machine of two cores.
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
        const spool = join(folder, `spool-${calls}`);
        const event = `{"hook_event_name":"Stop","session_id":"s${calls}"}`;
        const { code, stderr } = await hook(folder, spool, event);
        if (code !== 0 || stderr !== '' || readdirSync(spool).length === 0)
          deaths.push(`${calls}: ${code} ${stderr}`);
      }
    };
    await Promise.all([building, calling()]);
    expect(deaths).toEqual([]);
    expect(builds).toBe(BUILDS);
    expect(calls).toBeGreaterThanOrEqual(HOOK_CALLS);
  });

  test('that fails keeps the previous program', async () => {
    const folder = clone({ built: true });
    writeFileSync(join(folder, 'src/cli/main.ts'), 'export const broken: number = "text";\n');
    await expect(build(folder)).rejects.toMatchObject({ code: expect.any(Number) });
    await expect(version(folder)).resolves.toMatchObject({ stderr: '' });
    expect(strays(folder)).toEqual([]);
  });

  test('that is killed is repaired by the next one, and two builds at once do not disturb each other', async () => {
    const folder = clone({ built: false });
    const killed = startBuild(folder);
    while (!strays(folder).some((name) => name.startsWith('dist.part-'))) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    killed.kill('SIGKILL');
    await new Promise((resolve) => killed.once('close', resolve));
    await Promise.all([build(folder), build(folder)]);
    await expect(version(folder)).resolves.toMatchObject({ stderr: '' });
    expect(strays(folder)).toEqual([]);
  });
});

function hook(
  folder: string,
  spool: string,
  event: string,
): Promise<{ code: number | null; stderr: string }> {
  const child = spawn(process.execPath, [main(folder), 'hook', '--spool', spool], {
    cwd: folder,
    stdio: ['pipe', 'ignore', 'pipe'],
  });
  child.stdin.end(event);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stderr })));
}
