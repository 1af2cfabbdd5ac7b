import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const ROOMS = /^(src|schema|jobs|test|bench|docs|scripts|deploy)\//;

test('every path that CONTRIBUTING.md names exists', () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const named = [...page.matchAll(/`([^`\s]+)`/g)]
    .map(([, path = '']) => path)
    .filter((path) => ROOMS.test(path));
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test('CONTRIBUTING.md answers at least twelve times where to change what', () => {
  const page = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const rows = page
    .split('## Where to change what')[1]
    ?.split('\n## ')[0]
    ?.match(/^\| (?!you want to|-)/gm);
  expect(rows?.length).toBeGreaterThanOrEqual(12);
});
