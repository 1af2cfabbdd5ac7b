/**
 * Plants defects in a copy of the repository, and demands that the test which each names fails there, and passes without the defect:
 * `npm run defects`. `--only NAME` takes one, `--turn N` five in turn. `--by-world NIGHTS` asks the world instead of the tests, for so many
 * nights each (`--seed N`: from that world on). `--write NAME` makes the uncommitted changes of `src`, `jobs`
 * and `schema` the defect NAME. Exits with 1 if a defect is not found.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { DEFECTS, type Defect, inTurn, readDefects } from '../test/support/structure/defects.ts';
import { scratchFolder } from '../test/support/suite/scratch-folder.ts';

const ROOT = join(import.meta.dirname, '..');
/** A test file that finds a defect takes some seconds; on a busy machine a minute. */
const TEST_MS_MAX = 300_000;
/** Only these tests need a server, which takes longer to start than others take. */
const ON_POSTGRES = /\/postgres\//;
/** The names of errors by which a program that does not work at all ends a test. */
const BROKEN = /SyntaxError|ReferenceError|Failed to resolve|Cannot find module|does not provide an export/;

const { values: given } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    turn: { type: 'string' },
    'by-world': { type: 'string' },
    seed: { type: 'string', default: '1' },
    write: { type: 'string' },
  },
});

interface Reported {
  readonly name: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[] | null;
  }[];
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

function git(cwd: string, args: readonly string[], input = ''): string {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.trim()}`);
  return stdout;
}

/** The defects that the command line chooses. */
function chosen(): Defect[] {
  const all = readDefects();
  const { only = [], turn } = given;
  const unknown = only.filter((name) => !all.some((defect) => defect.name === name));
  if (unknown.length > 0) throw new Error(`no such defect: ${unknown.join(', ')}`);
  if (turn !== undefined && !/^\d{1,9}$/.test(turn)) throw new Error(`--turn ${turn} is no whole number`);
  if (only.length > 0) return all.filter(({ name }) => only.includes(name));
  return turn === undefined ? all : inTurn(all, Number(turn));
}

/** Replaces the diff of a defect by what is changed in the working tree. */
function write(name: string): void {
  const diff = git(ROOT, ['diff', '--unified=1', '--', 'src', 'jobs', 'schema']);
  if (diff === '') throw new Error('nothing is changed in src, jobs and schema');
  const path = join(ROOT, DEFECTS, `${name}.patch`);
  const text = existsSync(path) ? readFileSync(path, 'utf8') : 'WHAT A USER SEES.\n\nFound by: unit TEST\n\n';
  const start = text.search(/^diff --git /m);
  writeFileSync(path, (start === -1 ? text : text.slice(0, start)) + diff);
  say(`${DEFECTS}/${name}.patch is written; git restore src jobs schema takes the defect out again`);
}

/** Copies what tests need: the files of the repository, the packages and the compiled program. */
function copyInto(folder: string): void {
  const files = git(ROOT, ['ls-files', '--cached', '--others', '--exclude-standard', '-z']).split('\0');
  for (const file of files.filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(ROOT, file), join(folder, file));
  }
  if (existsSync(join(ROOT, 'dist'))) cpSync(join(ROOT, 'dist'), join(folder, 'dist'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
}

/** Runs test files of a project. A defect is planted in the sources that tests import: the program is not compiled again. */
function runTests(
  folder: string,
  project: string,
  tests: readonly string[],
  more: readonly string[] = [],
): Reported[] {
  const report = join(folder, 'out/defects.json');
  rmSync(report, { force: true });
  const options = ['--project', project, '--reporter=json', `--outputFile=${report}`, ...more];
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...options, ...tests];
  const { NODE_ENV: _, ...inherited } = process.env;
  const env = {
    ...inherited,
    DAYWALK_TEST_BUILD: 'kept',
    DAYWALK_SEED: process.env['DAYWALK_SEED'] ?? '2026',
    ...(tests.some((test) => ON_POSTGRES.test(test)) ? {} : { DAYWALK_TEST_POSTGRES_SOURCE: 'none' }),
  };
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
    timeout: TEST_MS_MAX * tests.length,
  });
  if (!existsSync(report)) throw new Error(`vitest ended without a report: ${stdout}\n${stderr}`);
  return JSON.parse(readFileSync(report, 'utf8')).testResults;
}

/** Fails unless each test file passes without any defect. */
function expectPassing(folder: string, defects: readonly Defect[]): void {
  const groups = Map.groupBy(defects, ({ project, test }) => `${project} ${ON_POSTGRES.test(test)}`);
  for (const list of groups.values()) {
    const { project = '' } = list[0] ?? {};
    const tests = [...new Set(list.map(({ test }) => test))];
    const results = runTests(folder, project, tests);
    const failed = failuresIn(results).map(({ test, message }) => `${test}: ${message.slice(0, 300)}`);
    const broken = results.flatMap(({ name, message }) => (message === '' ? [] : [`${name}: ${message}`]));
    const passed = tests.filter((test) =>
      results.some(
        ({ name, assertionResults }) =>
          name === join(folder, test) && assertionResults.some(({ status }) => status === 'passed'),
      ),
    );
    const silent = tests.filter((test) => !passed.includes(test)).map((test) => `${test}: no test passes`);
    const problems = [...failed, ...broken, ...silent];
    if (problems.length > 0) throw new Error(`without any defect:\n${problems.join('\n')}`);
  }
}

interface Failure {
  readonly test: string;
  readonly message: string;
}

function failuresIn(results: readonly Reported[]): Failure[] {
  return results.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ status, fullName, failureMessages }) =>
      status === 'failed' ? [{ test: fullName, message: failureMessages?.join('\n') ?? '' }] : [],
    ),
  );
}

/** The name of a test that fails because of the defect; or why none does. */
function finding(results: readonly Reported[]): { readonly test: string } | { readonly reason: string } {
  const failures = failuresIn(results);
  const found = failures.find(({ message }) => message.includes('AssertionError') && !BROKEN.test(message));
  if (found !== undefined) return found;
  const [other] = failures;
  const reason = other?.message ?? results.find(({ message }) => message !== '')?.message;
  return { reason: reason === undefined ? 'all tests pass' : `no assertion failed: ${reason.slice(0, 300)}` };
}

/** What the tests of a defect say where it is planted. The first failure is enough, unless no assertion is in it. */
function findingOf(folder: string, { project, test }: Defect): ReturnType<typeof finding> {
  const first = finding(runTests(folder, project, [test], ['--bail=1']));
  return 'test' in first ? first : finding(runTests(folder, project, [test]));
}

/** What the world says about the program in a folder, after so many nights; it stops at the first promise that is broken. */
function askWorld(folder: string, nights: string): { readonly test: string } | { readonly reason: string } {
  const args = ['test/world/main.ts', '--seed', given.seed, '--nights', nights, '--as-drawn'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    ...{ cwd: folder, encoding: 'utf8', timeout: TEST_MS_MAX },
  });
  if (status === 0) return { reason: stdout.split('\n')[0] ?? '' };
  const fault = /^world .*$/m.exec(stdout)?.[0];
  return fault === undefined ? { reason: `the world ended with ${status}: ${stderr}` } : { test: fault };
}

function main(): number {
  if (given.write !== undefined) {
    write(given.write);
    return 0;
  }
  const defects = chosen();
  const folder = mkdtempSync(join(process.env['TMPDIR'] ?? scratchFolder(), 'daywalk-defects-'));
  let missed = 0;
  try {
    copyInto(folder);
    const nights = given['by-world'];
    if (nights === undefined) expectPassing(folder, defects);
    else {
      const clean = askWorld(folder, nights);
      if ('test' in clean) throw new Error(`without any defect: ${clean.test}`);
    }
    for (const defect of defects) {
      const { name, test, diff } = defect;
      git(folder, ['apply', '-'], diff);
      const began = Date.now();
      const result = nights === undefined ? findingOf(folder, defect) : askWorld(folder, nights);
      git(folder, ['apply', '--reverse', '-'], diff);
      const seconds = Math.round((Date.now() - began) / 1000);
      if ('test' in result) say(`found      ${name} (${seconds} s): ${test}: ${result.test}`);
      else say(`NOT FOUND  ${name} (${seconds} s): ${test}: ${result.reason}`);
      if (!('test' in result)) missed += 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  say(`${defects.length - missed} of ${defects.length} planted defects found`);
  return missed === 0 ? 0 : 1;
}

process.exitCode = main();
