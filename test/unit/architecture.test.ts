import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FLOORS } from '../support/structure/floors.ts';
import { type House, measureHouse } from '../support/structure/house.ts';
import { ROOT } from '../support/structure/sources.ts';

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
const [, rooms = '', walks = ''] = page.split(/^## /m);

/** The sections of a part of the page, each with its heading. */
function sectionsOf(part: string): { readonly heading: string; readonly text: string }[] {
  return part
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      return { heading, text: lines.join('\n').trim() };
    });
}

describe('docs/architecture.md', () => {
  test('has one paragraph for each room, from the lowest floor to the highest', () => {
    const sections = sectionsOf(rooms);
    expect(sections.map(({ heading }) => heading)).toEqual(Object.keys(FLOORS).map((room) => `\`${room}\``));
    expect(sections.filter(({ text }) => text === '' || text.includes('\n\n'))).toEqual([]);
  });

  test('names only files and folders that exist', () => {
    const paths = Array.from(
      page.matchAll(/`((?:src|jobs|schema|test)\/[\w./-]*)`/g),
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(70);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe.each(sectionsOf(walks))('the walk "$heading"', ({ text }) => {
  const lines = text.split('\n').filter((line) => /^\d/.test(line));
  const steps = lines.map((line) => /^(\d+)\. `([^`]+)` [^.]+\.$/.exec(line));
  const paths = steps.flatMap((step) => step?.[2] ?? []);

  test('is a numbered list of files, with one sentence for each', () => {
    expect(lines.filter((_, index) => Number(steps[index]?.[1]) !== index + 1)).toEqual([]);
    expect(paths.length).toBeGreaterThan(8);
    expect(new Set(paths).size).toBe(paths.length);
  });

  test('goes from each file to one that it imports, or that imports it', () => {
    const importers = new Map(measureHouse().files.map((file) => [file.path, file.importers]));
    const areNeighbours = (a: string, b: string) =>
      importers.get(a)?.includes(b) === true || importers.get(b)?.includes(a) === true;
    const jumps = paths.flatMap((path, index) => {
      const next = paths[index + 1];
      return next === undefined || areNeighbours(path, next) ? [] : [`${path} and ${next}`];
    });
    expect(jumps).toEqual([]);
  });
});

/** What the house may be at most. Less is better; a limit that has room is lowered. */
const LIMITS: readonly (readonly [name: string, limit: number, measure: (house: House) => number])[] = [
  ['files', 595, ({ files }) => files.length],
  ['lines of code', 75_362, ({ codeLines }) => codeLines],
  ['per cent of files with one importer', 30, ({ singlePercent }) => singlePercent],
  ['files from the first importer to the last imported file', 32, ({ chain }) => chain.length],
  ['short files beside their only importer', 0, ({ dust }) => dust.length],
];

/** Long files whose parts do not refer to each other, and why they are one topic. */
const LISTS: Readonly<Record<string, string>> = {
  'schema/tables/daily.ts': 'one table after the other',
  'src/archive/answer-queries.ts': 'rows of answers: how they are written, and read as far as they can be',
  'src/archive/answers.ts': 'an archived answer, and what several of them say together',
  'src/contract/shapes.ts': 'one shape after the other',
  'src/core/sqlite-files.ts': 'how a SQLite file is created, locked, and read where nothing may be written',
  'src/core/files.ts':
    'how files are written and removed, and what went wrong with one; those of the program too',
  'src/cli/actions/checks.ts': 'one command after the other',
  'src/cli/actions/status-tables.ts': 'one part of the screen after the other',
  'src/cli/actions/warehouse.ts': 'one command after the other',
  'src/copy/own-rows.ts':
    'what a destination keeps of its own, and what it says of itself until a copy has ended',
  'src/copy/move.ts': 'a table and its units move together',
  'src/emulator/faults/faulty-response.ts': 'one fault after the other',
  'src/kept-out/list.ts': 'the list of the erased: how it is read, joined and extended',
  'src/http/exchange.ts': 'head and body of one response',
  'src/judge/watch.ts': 'what a comparison means, and what follows from it',
  'src/ledger/quarantine.ts': 'quarantine and drift of a day are stored together',
  'src/ledger/transitions.ts': 'one transition after the other',
  'src/look/figures/coverage.ts': 'the calendar of all streams, and what is not settled in it',
  'src/look/charts/plot.ts': 'what all charts are drawn with: axes, places, colours, labels',
  'src/metrics/query/plan.ts': 'a plan, and the words and clauses that a query is written with',
  'src/metrics/question.ts': 'a question, and the check of each part of it',
  'src/pipeline/normalize/breakdowns.ts': 'one breakdown after the other',
  'src/publish/lake-folder.ts': 'names and places of the files of a lake',
  'src/settings/parsers.ts': 'one parser after the other',
  'schema/tables/ledger.ts': 'one table after the other',
  'src/warehouse/postgres/queries.ts': 'one kind of step after the other',
  'src/warehouse/sqlite/queries.ts': 'one kind of step after the other',
};

describe('the house', () => {
  const house = measureHouse();

  test.each(LIMITS)('has few %s: at most %d', (_name, limit, measure) => {
    expect(measure(house)).toBeLessThanOrEqual(limit);
  });

  test('has long files about several topics only where they are a list', () => {
    const unexplained = house.mixed.filter(({ path }) => LISTS[path] === undefined);
    expect(unexplained.map(({ path, groups }) => `${path}: ${groups.join(', ')}`)).toEqual([]);
    const mixed = new Set(house.mixed.map(({ path }) => path));
    expect(Object.keys(LISTS).filter((path) => !mixed.has(path))).toEqual([]);
  });
});
