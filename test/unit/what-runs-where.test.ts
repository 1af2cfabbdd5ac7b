import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ON_SQLITE_ONLY } from '../support/warehouse/each-database.ts';

const ROOT = join(import.meta.dirname, '../..');
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
  scripts: Readonly<Record<string, string>>;
};
const FILES = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `test/${path}`);

/** The scripts that a shell text starts, and those that they start. */
function started(text: string): string[] {
  const names = [...text.matchAll(/^[^#\n]*\bnpm (?:run )?(test(?::[\w:]+)?)/gm)].map(
    ([, name = '']) => name,
  );
  return names.flatMap((name) =>
    (scripts[name] ?? '').split(' && ').flatMap((part) => {
      const inner = started(part);
      return inner.length > 0 ? inner : [name];
    }),
  );
}

/** What a script starts tests from, without the rest of its command. */
const named = (script: string) => scripts[script]?.match(/(?<= )test\/\S+/g) ?? [];

/** The folders that `npm test` leaves out. */
const excluded = [...(scripts['test'] ?? '').matchAll(/--exclude "([^"]+)\/\*\*"/g)].flatMap(
  ([, pattern = '']) => {
    const [, head = pattern, parts = '', tail = ''] = pattern.match(/^(.*)\{(.*)\}(.*)$/) ?? [];
    return parts.split(',').map((part) => `${head}${part}${tail}/`);
  },
);

describe('what runs where', () => {
  const inCi = started(readFileSync(join(ROOT, '.ci/run'), 'utf8'));

  test('.ci/run runs every test file: in npm test, or in a script of its own', () => {
    expect(inCi).toContain('test');
    const paths = inCi.filter((name) => name !== 'test').flatMap(named);
    const isRun = (file: string) =>
      !excluded.some((folder) => file.startsWith(folder)) || paths.some((path) => file.startsWith(path));
    expect(FILES.length).toBeGreaterThan(200);
    expect(FILES.filter((file) => !isRun(file))).toEqual([]);
  });

  test('npm test leaves out whole folders that exist', () => {
    expect(excluded.length).toBeGreaterThan(3);
    expect(excluded.filter((folder) => !FILES.some((file) => file.startsWith(folder)))).toEqual([]);
  });

  test('what npm test shows on SQLite only, .ci/run shows on PostgreSQL', () => {
    expect(inCi).toContain('test:postgres');
    expect(named('test:postgres').toSorted()).toEqual(ON_SQLITE_ONLY.toSorted());
  });
});
