import { expect, test } from 'vitest';
import { importsOf, readSources } from '../../support/structure/sources.ts';

const EMULATOR = 'src/emulator/';

/** The folders and files of the emulator from the ground up: each imports only those before it. */
const ORDER = [
  'dataset',
  'parse',
  'response',
  'request',
  'quirks',
  'sessions',
  'days',
  'world',
  'revise',
  'openapi',
  'endpoints',
  'faults',
  'options',
  'service',
  'server',
  'journal',
  'find-requests',
  'admin',
  'page',
  'emulator',
  'index',
];

const sources = readSources().filter(({ path }) => path.startsWith(EMULATOR));
const paths = sources.map(({ path }) => path);

function partOf(path: string): string {
  return /^[^/.]+/.exec(path.slice(EMULATOR.length))?.[0] ?? '';
}

test('a part of the emulator imports only parts below it, types included', () => {
  const imports = sources.flatMap(importsOf).filter(({ to }) => to.startsWith(EMULATOR));
  expect(imports.length).toBeGreaterThan(100);
  const upward = imports.filter(({ from, to }) => ORDER.indexOf(partOf(to)) > ORDER.indexOf(partOf(from)));
  expect(upward.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test('every part of the emulator has a place in the order', () => {
  expect([...new Set(paths.map(partOf))].toSorted()).toEqual(ORDER.toSorted());
});
