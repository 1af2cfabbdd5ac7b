import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FLOORS } from '../support/structure/floors.ts';
import { measureHouse } from '../support/structure/house.ts';
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
