import { describe, expect, test } from 'vitest';
import { FLOORS, type Room, roomOf } from '../support/structure/floors.ts';
import { measureHouse } from '../support/structure/house.ts';
import { importsOf, readSources, withoutComments } from '../support/structure/sources.ts';

/** A door offers so many names at most, types included. */
const NAMES_MAX = 25;

/** Rooms of words that all rooms use. Each file that others import is one topic, and its own door. */
const VOCABULARIES: readonly Room[] = ['src/core/', 'schema/', 'src/judge/'];
const TOPICS_MAX = 12;

/** Rooms without a door: a job is its own door, and nobody imports the command line and the library. */
const OPEN: readonly Room[] = ['jobs/', 'src/cli/', 'src/index.ts'];

/** How many files a door loads at most before anything is called. Start-up and tests depend on it. */
const FILES_MAX: Readonly<Partial<Record<Room, number>>> = {
  'src/privacy/': 13,
  'src/checks/': 6,
  'src/patience/': 4,
  'src/contract/': 9,
  'src/units/': 9,
  'src/http/': 27,
  'src/port/': 7,
  'src/marks/': 7,
  'src/emulator/': 65,
  'src/api/': 39,
  'src/ledger/': 36,
  'src/rollups/': 27,
  'src/kept-out/': 35,
  'src/identity/': 24,
  'src/archive/': 7,
  'src/warehouse/': 25,
  'src/organizations/': 39,
  'src/records/': 39,
  'src/metrics/': 74,
  'src/comparison/': 88,
  'src/expected/': 20,
  'src/weeks/': 54,
  'src/publish/': 1,
  'src/copy/': 78,
  'src/csv-files/': 109,
  'src/hooks/': 17,
  'src/pipeline/': 160,
  'src/policy/': 50,
  'src/sweep/': 186,
  'src/backup/': 42,
  'src/client-hooks/': 22,
  'src/verify/': 167,
  'src/status/': 86,
  'src/bi/': 8,
  'src/look/': 2,
  'src/assistants/': 2,
  'src/settings/': 33,
  'src/places/': 66,
  'src/serve/': 247,
};

/** The emulator's door is an entry of the package, so it also offers what only others use. */
const ENTRY: Room = 'src/emulator/';

const sources = readSources();
const imports = sources.flatMap((source) => importsOf(source));
const house = measureHouse(sources);
const doorOf = (room: Room) => `${room}index.ts`;
const withDoor = (Object.keys(FLOORS) as Room[]).filter(
  (room) => !OPEN.includes(room) && !VOCABULARIES.includes(room),
);
const doors = new Map([...house.doors].filter(([path]) => path !== 'src/index.ts'));
const isDoor = (path: string) => doors.has(path);
/** Imports from one room into another. The library may reach past doors. */
const visits = imports.filter(
  ({ from, to }) => to.endsWith('.ts') && from !== 'src/index.ts' && roomOf(from) !== roomOf(to),
);

/** What other rooms take of the files of a room, by file. */
function takenOf(room: Room): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>();
  for (const { to, names } of visits.filter((visit) => roomOf(visit.to) === room)) {
    const known = taken.get(to) ?? new Set();
    for (const name of names) known.add(name);
    taken.set(to, known);
  }
  return taken;
}

/** The files that one file loads before anything is called. */
function loadedBy(path: string): Set<string> {
  const loaded = new Set([path]);
  for (const next of loaded)
    for (const { from, to, isType, isLate, isStart } of imports)
      if (from === next && !isType && !isLate && !isStart && to.endsWith('.ts')) loaded.add(to);
  return loaded;
}

describe('doors', () => {
  test('are one for each room', () => {
    expect([...doors.keys()].toSorted()).toEqual(withDoor.map(doorOf).toSorted());
  });

  test('are the only files of a room that other rooms import', () => {
    const past = visits.filter(({ to }) => withDoor.includes(roomOf(to)) && !isDoor(to));
    expect(past.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('are not imported inside their own room', () => {
    const own = imports.filter(({ from, to }) => isDoor(to) && roomOf(from) === roomOf(to));
    expect(own.map(({ from, to }) => `${from} imports ${to}`)).toEqual([]);
  });

  test('pass on single names: no whole files, and no objects of functions', () => {
    const whole = sources.filter(({ text }) => /^export \*/m.test(withoutComments(text)));
    expect(whole.map(({ path }) => path)).toEqual([]);
    const bundled = sources.filter(
      ({ path, text }) =>
        isDoor(path) && /^(export )?(const|let) \w+[^=]*= (\{|Object\.)/m.test(withoutComments(text)),
    );
    expect(bundled.map(({ path }) => path)).toEqual([]);
  });

  test(`offer at most ${NAMES_MAX} names`, () => {
    const large = [...doors].filter(([, names]) => names.length > NAMES_MAX);
    expect(large.map(([path, names]) => `${path} offers ${names.length}`)).toEqual([]);
  });

  test('offer only what another room uses', () => {
    const idle = withDoor
      .filter((room) => room !== ENTRY)
      .flatMap((room) => {
        const taken = takenOf(room).get(doorOf(room));
        const names = doors.get(doorOf(room)) ?? [];
        return names.filter((name) => taken?.has(name) !== true).map((name) => `${doorOf(room)} ${name}`);
      });
    expect(idle).toEqual([]);
  });

  test.each(withDoor)('%s loads few files before anything is called', (room) => {
    const loaded = loadedBy(doorOf(room));
    expect(loaded.size, [...loaded].join('\n')).toBeLessThanOrEqual(FILES_MAX[room] ?? 0);
  });
});

describe.each(VOCABULARIES)('the words of %s', (room) => {
  test(`are at most ${TOPICS_MAX} topics, of which other rooms use at most ${NAMES_MAX} names each`, () => {
    const topics = [...takenOf(room)].map(([path, names]) => ({ path, count: names.size }));
    expect(topics.map(({ path }) => path).length).toBeLessThanOrEqual(TOPICS_MAX);
    expect(topics.filter(({ count }) => count > NAMES_MAX)).toEqual([]);
  });
});
