import { expect, test } from 'vitest';
import { importsOf, readSources } from '../../support/structure/sources.ts';

const EMULATOR = 'src/emulator/';

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

const sources = readSources().filter(({ path }) => path.startsWith(EMULATOR));
const paths = sources.map(({ path }) => path);

function roomOf(path: string): string {
  const [room = '', ...rest] = path.slice(EMULATOR.length).split('/');
  return rest.length === 0 ? 'top' : room;
}

test('a room of the emulator imports only rooms below it, types included', () => {
  const imports = sources.flatMap(importsOf).filter(({ to }) => to.startsWith(EMULATOR));
  expect(imports.length).toBeGreaterThan(200);
  const upward = imports.filter(({ from, to }) => ROOMS.indexOf(roomOf(to)) > ROOMS.indexOf(roomOf(from)));
  expect(upward.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
});

test('every room of the emulator has a place in the order, and no file is loose', () => {
  expect([...new Set(paths.map(roomOf))].toSorted()).toEqual(ROOMS.toSorted());
  const loose = paths.map((path) => path.slice(EMULATOR.length)).filter((path) => !path.includes('/'));
  expect(loose.toSorted()).toEqual(TOP_FILES);
});
