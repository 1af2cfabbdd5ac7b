import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands.ts';
import { RULES } from '../../src/core/errors.ts';
import { EXIT } from '../../src/core/exit-code.ts';
import * as library from '../../src/index.ts';
import { CATALOGUE } from '../support/faults/catalogue.ts';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const read = (page: string) => readFileSync(join(ROOT, page), 'utf8');

/** The text of a page without its code blocks. */
const proseOf = (page: string) => read(page).replaceAll(/^```[\s\S]*?^```$/gm, '');

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): string[] {
  return [...proseOf(page).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(PAGES)('%s', (page) => {
  test('links only to files and headings that exist', () => {
    const targets = [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    const broken = targets.filter((target) => {
      if (/^[a-z]+:/.test(target)) return false;
      const [path = '', anchor] = target.split('#', 2);
      const file = path === '' ? page : join(dirname(page), path);
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && !anchorsOf(file).includes(anchor);
    });
    expect(broken).toEqual([]);
  });
});

describe('README.md', () => {
  const text = proseOf('README.md').replaceAll(/\s+/g, ' ');

  test('fits on a few screens', () => {
    expect(text.split(' ').length).toBeLessThan(1_000);
  });

  test.each([
    ['what it promises', /promises/, 'docs/reliability.md'],
    ['what it does not promise', /does \*\*not\*\*/, 'docs/trust.md'],
    ['what a night and a user cost', /requests.*KB per active user/, 'docs/scaling.md'],
    ['how to resume', /\*\*resume\*\*/, 'docs/operations.md'],
    ['how to see holes', /\*\*see holes\*\*/, 'docs/operations.md'],
    ['how to move from SQLite to PostgreSQL', /From SQLite to PostgreSQL/, 'docs/moving.md'],
    ['what is stored about people, and how to store less', /store less/, 'docs/privacy.md'],
  ])('says %s, and links to the details', (_, words, link) => {
    expect(text).toMatch(words);
    expect(text).toContain(`](${link})`);
  });

  test('links to every page in docs, except parts of pages', () => {
    const pages = PAGES.filter((page) => /^docs\/[^/]+$/.test(page));
    expect(pages.filter((page) => !text.includes(`](${page})`))).toEqual([]);
  });
});

test('docs/commands.md describes every command', () => {
  const headings = anchorsOf('docs/commands.md');
  for (const { name } of commands) expect(headings).toContain(`daywalk-${name.replaceAll(' ', '-')}`);
});

test('every file of the checkout that a page names exists', () => {
  const missing = PAGES.flatMap((page) =>
    [
      ...read(page).matchAll(
        /(?<![\w/.])(?:src|schema|jobs|test|bench|scripts|deploy)\/[\w/.-]+\.(?:ts|mjs|sh|py|sql|yaml)\b/g,
      ),
    ]
      .filter(([path]) => !existsSync(join(ROOT, path)))
      .map(([path]) => `${page}: ${path}`),
  );
  expect(missing).toEqual([]);
});

test('docs/library.md lists every error that the library exports', () => {
  const errors = Object.keys(library).filter((name) => name.endsWith('Error'));
  const page = read('docs/library.md');
  expect(errors.length).toBeGreaterThan(8);
  expect(errors.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([]);
});

test('the library exports every reason code that its rooms give to an error', () => {
  const given = ['src/http', 'src/api'].flatMap((room) =>
    readdirSync(join(ROOT, room)).flatMap((name) => reasonsIn(read(join(room, name)))),
  );
  expect(given.length).toBeGreaterThan(15);
  expect(new Set(given)).toEqual(new Set(Object.keys(library.CLIENT_REASONS)));
});

/** The reason codes in the code of a file: those of an error, of advice on one, and of a walk that breaks a rule. */
function reasonsIn(text: string): string[] {
  const places = text.matchAll(/\breason: ([^,\n]*'[^,\n]*)|\bbroken\(\s*('[\w-]+')/g);
  return [...places].flatMap(([, advice = '', rule = '']) =>
    Array.from((advice + rule).matchAll(/'([\w-]+)'/g), ([, code = '']) => code),
  );
}

test('docs/trust.md explains every rule', () => {
  const page = read('docs/trust.md');
  expect(Object.keys(RULES).filter((rule) => !page.includes(`\`${rule}\``))).toEqual([]);
});

test('docs/operations.md explains every exit code', () => {
  const cells = [...read('docs/operations.md').matchAll(/^\| ([\d, ]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(',').map(Number),
  );
  expect(Object.values(EXIT).filter((code) => !cells.includes(code))).toEqual([]);
});

test('docs/reliability.md states the number of faults in the catalogue', () => {
  expect(read('docs/reliability.md')).toContain(`The catalogue lists ${CATALOGUE.length} faults`);
});

test.each(PAGES)('%s uses plain words', (page) => {
  expect(proseOf(page).match(/\b(?:told|tells?|telling|elsewhere|is asked for)\b/gi) ?? []).toEqual([]);
});
