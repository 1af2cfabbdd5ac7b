import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const SRC = join(import.meta.dirname, '../../../src');
const EMULATOR = 'emulator/';

/** The rooms of the emulator from the ground up. A room imports only rooms before it; the files at the top come last. */
const ROOMS = [
  'dataset',
  'input',
  'http',
  'quirks',
  'world',
  'endpoints',
  'sessions',
  'faults',
  'openapi',
  'control',
  'top',
];
const TOP_FILES = ['emulator.ts', 'exchange.ts', 'index.ts', 'options.ts', 'service.ts'];

/** Each file below `src` with the files that it imports, types included. */
const imports = new Map(
  readdirSync(SRC, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, importsOf(path)]),
);

function importsOf(path: string): string[] {
  const code = readFileSync(join(SRC, path), 'utf8');
  const specifiers = code.matchAll(/(?:^|\s)(?:from\s+|import\(|import\s+)'(\.[^']+)'/g);
  return Array.from(specifiers, ([, specifier = '']) => join(path, '..', specifier));
}

function roomOf(path: string): string {
  const [room = '', ...rest] = path.slice(EMULATOR.length).split('/');
  return rest.length === 0 ? 'top' : room;
}

/** The first circle that a walk along the imports meets. */
function findCircle(files: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): readonly string[] => {
    if (trail.includes(path)) return [...trail.slice(trail.indexOf(path)), path];
    if (finished.has(path)) return [];
    for (const next of files.get(path) ?? []) {
      const circle = visit(next, [...trail, path]);
      if (circle.length > 0) return circle;
    }
    finished.add(path);
    return [];
  };
  for (const path of files.keys()) {
    const circle = visit(path, []);
    if (circle.length > 0) return circle;
  }
  return [];
}

test('no files below src import each other in a circle, not even types', () => {
  expect(imports.size).toBeGreaterThan(300);
  expect(findCircle(imports)).toEqual([]);
});

test('a circle is found', () => {
  const files = new Map([
    ['a', ['b']],
    ['b', ['c', 'd']],
    ['c', ['b']],
  ]);
  expect(findCircle(files)).toEqual(['b', 'c', 'b']);
});

test('every room of the emulator imports only rooms below it', () => {
  const own = [...imports].filter(([path]) => path.startsWith(EMULATOR));
  expect(own.length).toBeGreaterThan(50);
  const upward = own.flatMap(([path, targets]) =>
    targets
      .filter((target) => target.startsWith(EMULATOR) && roomOf(target) !== roomOf(path))
      .filter((target) => ROOMS.indexOf(roomOf(target)) > ROOMS.indexOf(roomOf(path)))
      .map((target) => `${path} imports ${target}`),
  );
  expect(upward).toEqual([]);
  expect([...new Set(own.map(([path]) => roomOf(path)))].toSorted()).toEqual(ROOMS.toSorted());
  const loose = own.map(([path]) => path.slice(EMULATOR.length)).filter((path) => !path.includes('/'));
  expect(loose.toSorted()).toEqual(TOP_FILES);
});
