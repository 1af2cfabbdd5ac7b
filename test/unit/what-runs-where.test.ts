import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInThisContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import config from '../../vitest.config.ts';
import { TAGS } from '../support/suite/tags.ts';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};

interface TestFile {
  readonly path: string;
  /** The projects that include it. */
  readonly projects: readonly string[];
  /** The tags of every test in it. */
  readonly tags: readonly string[];
}

const filesOf = (globs: readonly string[] = []) => globs.flatMap((glob) => globSync(glob, { cwd: ROOT }));
const PROJECTS = (config.test?.projects ?? []).flatMap((project) => {
  if (typeof project !== 'object' || !('test' in project) || project.test === undefined) return [];
  const { name, include, exclude } = project.test;
  const without = new Set(filesOf(exclude));
  return [{ name: String(name), files: new Set(filesOf(include).filter((path) => !without.has(path))) }];
});
const FILES: readonly TestFile[] = globSync('test/**/*.test.ts', { cwd: ROOT }).map((path) => {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const tags = Array.from(text.matchAll(/^\/\/ @module-tag (\S+)$/gm), ([, tag = '']) => tag);
  return {
    path,
    projects: PROJECTS.filter(({ files }) => files.has(path)).map(({ name }) => name),
    tags,
  };
});

/** The scripts that a shell text starts, and those that they start. */
function started(text: string): string[] {
  const names = [...text.matchAll(/^(?!step )[^#\n]*\bnpm (?:run )?(test(?::[\w:]+)?)/gm)].map(
    ([, name = '']) => name,
  );
  return names.flatMap((name) =>
    (scripts[name] ?? '').split(' && npm').flatMap((part, index) => {
      const inner = started(index === 0 ? part : `npm${part}`);
      return inner.length > 0 ? inner : [name];
    }),
  );
}

/** True if a script runs the tests of a file that have these tags. */
function runs(script: string, { projects, tags }: TestFile, more: readonly string[]): boolean {
  const command = scripts[script] ?? '';
  if (!/\bvitest run\b/.test(command)) return false;
  const named = Array.from(command.matchAll(/--project (\S+)/g), ([, name = '']) => name);
  const [, quoted, bare] = command.match(/--tags-filter (?:"([^"]+)"|(\S+))/) ?? [];
  const isOf = named.length === 0 || projects.some((project) => named.includes(project));
  return isOf && selects(quoted ?? bare ?? '', [...tags, ...more]);
}

/** The expressions of vitest: names of tags, with `*` for the rest of a name, joined by `!`, `&&`, `||` and brackets. */
function selects(filter: string, tags: readonly string[]): boolean {
  if (filter === '') return true;
  const isOne = (pattern: string) =>
    tags.some((tag) => (pattern.endsWith('*') ? tag.startsWith(pattern.slice(0, -1)) : tag === pattern));
  return runInThisContext(filter.replace(/[\w/*-]+/g, (pattern) => String(isOne(pattern))));
}

/** The sets of tags that a test may have beside those of its file. */
const SETS = [[], ['postgresql'], ['ci/variant'], ['ci/again', 'postgresql'], ['ci/rare'], ['ci/upkeep']];

/** Units have no tags of their own: npm test runs them all. */
function setsOf({ projects }: TestFile): typeof SETS {
  return projects.includes('unit') ? [[]] : SETS;
}

describe('what runs where', () => {
  const inCi = started(readFileSync(join(ROOT, '.ci/run'), 'utf8'));

  test('every test file belongs to one project', () => {
    expect(FILES.length).toBeGreaterThan(200);
    expect(FILES.filter(({ projects }) => projects.length !== 1)).toEqual([]);
  });

  test('.ci/run runs every test: in npm test, or in a script of its own', () => {
    const left = FILES.flatMap((file) =>
      setsOf(file)
        .filter((tags) => !inCi.some((script) => runs(script, file, tags)))
        .map((tags) => `${file.path} ${tags.join(' ')}`),
    );
    expect(left).toEqual([]);
  });

  test('.ci/run runs npm test, and no unit a second time', () => {
    expect(inCi).toContain('test');
    expect(inCi).not.toContain('test:unit');
  });

  test('each test of a behaviour is in one of npm test, npm run test:rest and npm run test:postgres', () => {
    const other = FILES.filter(({ projects: [project] }) => project === 'behaviour')
      .flatMap((file) => SETS.map((tags) => ({ file, tags })))
      .filter(
        ({ file, tags }) =>
          ['test', 'test:rest', 'test:postgres'].filter((script) => runs(script, file, tags)).length !== 1,
      );
    expect(other).toEqual([]);
  });

  test('no test has a condition that hides it from a script with --experimental.preParse: the option `skip` has one', () => {
    const hidden = FILES.filter(({ path }) =>
      /\.(?:skipIf|runIf)\(/.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(hidden.map(({ path }) => path)).toEqual([]);
  });

  test('no unit has a tag that npm test leaves out', () => {
    const units = FILES.filter(({ projects }) => projects.includes('unit'));
    const left = units.filter(({ path }) =>
      /^import .*testVariants|^\s+tags: '/m.test(readFileSync(join(ROOT, path), 'utf8')),
    );
    expect(left.map(({ path }) => path)).toEqual([]);
  });

  test('scripts select tests by projects and tags that exist, not by paths', () => {
    const commands = Object.entries(scripts).filter(([, command]) => command.includes('vitest'));
    expect(commands.length).toBeGreaterThan(10);
    expect(commands.filter(([, command]) => /\btest\/|\.test\.ts|--exclude/.test(command))).toEqual([]);
    const projects = commands.flatMap(([, command]) => command.match(/(?<=--project )\S+/g) ?? []);
    expect(PROJECTS.map(({ name }) => name)).toEqual(expect.arrayContaining(projects));
    const filters = commands.flatMap(([, command]) => command.match(/(?<=--tags-filter ).+/g) ?? []);
    const tags = filters.flatMap((filter) => filter.match(/[\w/*-]+/g) ?? []);
    expect(tags.filter((tag) => !TAGS.some(({ name }) => selects(tag, [name])))).toEqual([]);
  });
});
