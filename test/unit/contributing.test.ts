import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const ROOMS = /^(src|schema|jobs|test|bench|docs|scripts|deploy)\//;

const PAGE = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
/** The rows of the table that says where to change what. */
const ROWS =
  PAGE.split('## Where to change what')[1]
    ?.split('\n## ')[0]
    ?.match(/^\| (?!you want to|-).*$/gm) ?? [];

function codeIn(text: string): string[] {
  return Array.from(text.matchAll(/`([^`\s]+)`/g), ([, code = '']) => code);
}

test('every path that CONTRIBUTING.md names exists', () => {
  const named = codeIn(PAGE).filter((path) => ROOMS.test(path));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('every file that a row names without a folder stands in a folder that the row names', () => {
  const bare = ROWS.flatMap((row) => {
    const paths = codeIn(row).filter((path) => ROOMS.test(path));
    const folders = paths.map((path) => (path.endsWith('/') ? path : dirname(path)));
    const names = codeIn(row).filter((name) => /^[\w-]+\.\w+$/.test(name));
    return names.map((name) => ({ name, folders }));
  });
  expect(bare.length).toBeGreaterThan(1);
  const isThere = (name: string) => (folder: string) => existsSync(join(ROOT, folder, name));
  expect(bare.filter(({ name, folders }) => !folders.some(isThere(name)))).toEqual([]);
});

test('no row of CONTRIBUTING.md names a path twice', () => {
  const twice = ROWS.filter((row) => new Set(codeIn(row)).size < codeIn(row).length);
  expect(twice).toEqual([]);
});

test('CONTRIBUTING.md answers at least twelve times where to change what', () => {
  expect(ROWS.length).toBeGreaterThanOrEqual(12);
});
