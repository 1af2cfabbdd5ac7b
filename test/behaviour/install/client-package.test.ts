// @module-tag ci/variant

import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import * as library from '../../../src/index.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const ROOT = join(import.meta.dirname, '../../..');
const PACKAGES_MAX = 3;
const BYTES_MAX = 6 * 1024 * 1024;
const run = promisify(execFile);

const npm = (args: readonly string[], cwd: string) =>
  execFileSync('npm', [...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** A folder in which the packed client was installed, without a network. */
let folder = '';
let tarball = '';
const installed = (...path: string[]) => join(folder, 'node_modules', ...path);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'daywalk-test-'));
  tarball = join(ROOT, npm(['run', '--silent', 'pack:client'], ROOT));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  npm(['install', '--offline', '--no-audit', '--no-fund', tarball], folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a program in the folder against a service. */
async function outputOf(name: string, code: string): Promise<string> {
  const emulator = await startEmulator({ today: '2026-03-02', users: 20, apiKey: 'key-of-a-user' });
  try {
    writeFileSync(resolve(folder, name), code);
    const env = { ...process.env, API_KEY: 'key-of-a-user', API_URL: emulator.url };
    const { stdout, stderr } = await run(process.execPath, [name], { cwd: folder, env });
    return stdout + stderr;
  } finally {
    await emulator.close();
  }
}

function sizeOf(path: string): number {
  const status = statSync(path);
  if (!status.isDirectory()) return status.size;
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 0);
}

describe('the package of the client', () => {
  test(`installs at most ${PACKAGES_MAX} packages and ${BYTES_MAX / 1024 / 1024} MB in an empty folder`, () => {
    const packages = readdirSync(installed()).filter((name) => !name.startsWith('.'));
    expect(packages).toContain('daywalk-client');
    expect(packages.length).toBeLessThanOrEqual(PACKAGES_MAX);
    expect(sizeOf(installed())).toBeLessThanOrEqual(BYTES_MAX);
  });

  test('has its types in one file, and no source', () => {
    const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
    expect(files.filter((name) => name.endsWith('.d.ts'))).toEqual(['package/index.d.ts']);
    expect(files.filter((name) => !/^package\/([\w-]+\.(js|d\.ts|md|txt|json)|LICENSE)$/.test(name))).toEqual(
      [],
    );
  });

  test('exports what the library exports', async () => {
    const list = "import * as all from 'daywalk-client'; console.log(JSON.stringify(Object.keys(all)));";
    expect(JSON.parse(await outputOf('exports.mjs', list))).toEqual(Object.keys(library).toSorted());
  });

  test('declares as values only what it exports, so that no import compiles and fails when it runs', () => {
    const types = readFileSync(installed('daywalk-client/index.d.ts'), 'utf8');
    const values = Array.from(
      types.matchAll(/^export declare (?:abstract )?(?:const|let|function|class|enum) (\w+)/gm),
      ([, name]) => name,
    );
    expect(values.toSorted()).toEqual(Object.keys(library).toSorted());
  });

  test('runs the first program of its README', async () => {
    const readme = readFileSync(installed('daywalk-client/README.md'), 'utf8');
    const [, program = ''] = /^```ts\n(.*?)^```$/ms.exec(readme) ?? [];
    expect(await outputOf('usage.ts', program)).toMatch(/^2026-02-02 \d+$/m);
    const links = Array.from(readme.matchAll(/\]\(([^)]+)\)/g), ([, target]) => target ?? '');
    expect(links.filter((target) => !/^(https:|#)/.test(target))).toEqual([]);
  });

  test('can be required, as Node requires modules', async () => {
    const program = "console.log(typeof require('daywalk-client').createClient);";
    expect(await outputOf('required.cjs', program)).toMatch(/^function$/m);
  });

  test('works in a bundle of somebody else, far from its package.json', async () => {
    const program = `
      import { createClient } from 'daywalk-client';
      const options = { apiKey: process.env.API_KEY, baseUrl: process.env.API_URL };
      const client = createClient(options);
      const { data } = await client.activity({ startDate: '2026-02-02', endDate: '2026-02-02' });
      console.log(data[0].date);
      await client.close();`;
    writeFileSync(join(folder, 'program.mjs'), program);
    const { outputFiles } = await build({
      absWorkingDir: folder,
      entryPoints: ['program.mjs'],
      bundle: true,
      format: 'esm',
      platform: 'node',
      write: false,
    });
    const far = join(tempDir(), 'a/b/c/d/e/f/g');
    mkdirSync(far, { recursive: true });
    expect(await outputOf(join(far, 'bundle.mjs'), outputFiles[0]?.text ?? '')).toBe('2026-02-02\n');
  });

  test.each(['nodenext', 'bundler'])(
    'compiles strictly for the resolution %s, its declarations included',
    (moduleResolution) => {
      const code = `
        import { createClient, type UserRow } from 'daywalk-client';
        const client = createClient({ apiKey: 'k', baseUrl: 'https://api.example.com' });
        const range = { startDate: '2026-02-02', endDate: '2026-02-02' };
        for await (const user of client.users(range)) { const row: UserRow = user; console.log(row.user_id.length); }
        // @ts-expect-error: a number has no length
        for (const { tool_calls } of (await client.tools(range)).data) console.log(tool_calls.length);
        // @ts-expect-error: rows are types only
        console.log((await import('daywalk-client')).UserRow);
        export {};`;
      const module = moduleResolution === 'bundler' ? 'preserve' : 'nodenext';
      expect(complaintsAbout(code, { module, moduleResolution, skipLibCheck: false })).toBe('');
    },
  );

  test('declares the types of rows and sessions as the sources have them', () => {
    const declared = readFileSync(installed('daywalk-client/index.d.ts'), 'utf8');
    const names = Array.from(declared.matchAll(/^export declare type (\w+) =/gm), ([, name = '']) => name);
    expect(names.filter((name) => name.endsWith('Row'))).toHaveLength(8);
    const code = `/// <reference path=${JSON.stringify(join(ROOT, 'src/http/undici-parts.d.ts'))} />
      import type * as declared from 'daywalk-client';
      import type * as source from ${JSON.stringify(join(ROOT, 'src/index.ts'))};
      type Same<A, B> =
        (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
      type Flat<A> = { [K in keyof A]: A[K] };
      ${names.map((name) => `true satisfies Same<Flat<declared.${name}>, Flat<source.${name}>>;`).join('\n')}`;
    expect(
      complaintsAbout(code, { allowImportingTsExtensions: true, exactOptionalPropertyTypes: true }),
    ).toBe('');
  });
});

/** What the compiler says about a program in the folder. */
function complaintsAbout(code: string, options: object): string {
  mkdirSync(installed('@types'), { recursive: true });
  for (const name of ['@types/node', 'undici-types'])
    if (!existsSync(installed(name))) symlinkSync(join(ROOT, 'node_modules', name), installed(name));
  writeFileSync(join(folder, 'typed.ts'), code);
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2024', lib: ['es2024'], strict: true, noEmit: true, types: ['node'] },
    ...{ skipLibCheck: true, ...options },
  };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['typed.ts'] }));
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc');
  return spawnSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' }).stdout;
}
