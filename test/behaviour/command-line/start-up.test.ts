import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { tempDir } from '../../support/suite/temp-dir.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

test('help, version and usage errors load only commander, so they start fast', () => {
  const directory = tempDir();
  cpSync(join(root, 'dist'), join(directory, 'dist'), { recursive: true });
  cpSync(join(root, 'package.json'), join(directory, 'package.json'));
  mkdirSync(join(directory, 'node_modules'));
  symlinkSync(join(root, 'node_modules/commander'), join(directory, 'node_modules/commander'));

  const main = join(directory, 'dist/src/cli/main.js');
  const call = (...args: string[]) =>
    spawnSync(process.execPath, [main, ...args], { encoding: 'utf8', cwd: directory });
  expect(call('--help')).toMatchObject({
    status: 0,
    stderr: '',
    stdout: expect.stringContaining('Commands:'),
  });
  expect(call('run', '--help')).toMatchObject({ status: 0, stderr: '' });
  expect(call('--version').stdout).toMatch(/^daywalk \d+\.\d+\.\d+ \(node v/);
  expect(call('rum').status).toBe(2);
  expect(call('config').status).toBe(0);
  // Proves that the folder really lacks what a job needs.
  expect(call('status')).toMatchObject({ status: 2, stderr: expect.stringContaining('load better-sqlite3') });
});

/**
 * The built files that a command loads, as Node's own record of coverage lists them. Counts, because times are noise:
 * each file takes half a millisecond, and every 100 kB take one or two.
 */
function filesLoadedBy(args: readonly string[], input = ''): { files: string[]; bytes: number } {
  const coverage = join(tempDir(), 'coverage');
  const env = { ...process.env, NODE_V8_COVERAGE: coverage, DAYWALK_SPOOL: join(tempDir(), 'spool') };
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'dist/src/cli/main.js'), ...args], {
    encoding: 'utf8',
    env,
    input,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const [record = ''] = readdirSync(coverage);
  const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(coverage, record), 'utf8'));
  const paths = result.flatMap(({ url }) => (url.startsWith('file://') ? [fileURLToPath(url)] : []));
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
  return { files: paths.map((path) => relative(root, path)), bytes };
}

// More than this means that something is imported statically which only some commands need: load it with `import()`. A new
// command with its flags and examples is about 1,500 bytes.
test.each([
  { args: ['--help'], filesMax: 14, bytesMax: 294_500 },
  { args: ['run', '--help'], filesMax: 14, bytesMax: 294_500 },
  { args: ['hook'], filesMax: 3, bytesMax: 32_300 },
])('daywalk $args loads at most $filesMax files and $bytesMax bytes', ({ args, filesMax, bytesMax }) => {
  const { files, bytes } = filesLoadedBy(args, JSON.stringify({ hook_event_name: 'Stop' }));
  expect(files).toContain('dist/src/cli/main.js');
  expect(files.length, files.join('\n')).toBeLessThanOrEqual(filesMax);
  expect(bytes).toBeLessThanOrEqual(bytesMax);
});
