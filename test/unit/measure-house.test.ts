import { describe, expect, test } from 'vitest';
import { type House, measureHouse } from '../support/structure/house.ts';

/** Measures an invented program of files by their paths. */
function houseOf(files: Readonly<Record<string, string>>): House {
  return measureHouse(Object.entries(files).map(([path, text]) => ({ path, text })));
}

function importersOf({ files }: House, path: string): readonly string[] | undefined {
  return files.find((file) => file.path === path)?.importers;
}

/** A file of so many lines whose functions each belong to one of the topics, and call the function before of their topic. */
function fileAbout(topics: readonly string[], lines: number): string {
  const functions = Array.from({ length: lines }, (_, index) => {
    const topic = topics[index % topics.length];
    const before = index - topics.length;
    return `export const ${topic}${index} = () => ${before < 0 ? index : `${topic}${before}()`};`;
  });
  return functions.join('\n');
}

/** Two rooms with doors, the upper of which passes on a name of the lower one, and a program that uses both. */
const TWO_DOORS = {
  'src/low/index.ts': "export { a, type B } from './a.ts';\nexport { c as d } from './c.ts';\n",
  'src/low/a.ts': 'export const a = 1;\nexport type B = number;\n',
  'src/low/c.ts': "import { a } from './a.ts';\nexport const c = a;\n",
  'src/high/index.ts': "export { a as one } from '../low/index.ts';\nexport { own } from './own.ts';\n",
  'src/high/own.ts': 'export const own = 2;\n',
  'src/main.ts': "import { own } from './high/index.ts';\nimport { d } from './low/index.ts';\nown + d;\n",
};

describe('a file', () => {
  test('has lines, and lines of code without blanks, comments, imports and re-exports', () => {
    const { files, meanLines, codeLines } = houseOf({
      'src/a.ts': "/** A number. */\nexport const a = 1; // one\n\nexport { b } from './b.ts';\n",
      'src/b.ts':
        "import {\n  a,\n} from './a.ts';\nimport './c.ts';\n\n/*\n * Twice a.\n */\nexport const b =\n  2 * a;\n",
    });
    expect(files.map(({ lines }) => lines)).toEqual([4, 10]);
    expect(files.map((file) => file.codeLines)).toEqual([1, 2]);
    expect(meanLines).toBe(7);
    expect(codeLines).toBe(3);
  });
});

describe('the importers of a file', () => {
  test('are those of its names, also through a door that renames them', () => {
    const house = houseOf(TWO_DOORS);
    expect(importersOf(house, 'src/low/c.ts')).toEqual(['src/main.ts']);
    expect(importersOf(house, 'src/high/own.ts')).toEqual(['src/main.ts']);
  });

  test('do not include a door, nor a file that takes other names from the door', () => {
    const house = houseOf(TWO_DOORS);
    expect(importersOf(house, 'src/low/a.ts')).toEqual(['src/low/c.ts']);
    expect(importersOf(house, 'src/low/index.ts')).toEqual([]);
  });

  test('are found through two doors', () => {
    const house = houseOf({ ...TWO_DOORS, 'src/more.ts': "import { one } from './high/index.ts';\n" });
    expect(importersOf(house, 'src/low/a.ts')).toEqual(['src/low/c.ts', 'src/more.ts']);
  });

  test('include a file that takes the whole door', () => {
    const house = houseOf({ ...TWO_DOORS, 'src/late.ts': "const low = await import('./low/index.ts');\n" });
    expect(importersOf(house, 'src/low/a.ts')).toContain('src/late.ts');
    expect(importersOf(house, 'src/low/c.ts')).toContain('src/late.ts');
  });

  test('are found through a function of a door that loads the file late, and not those of other names', () => {
    const house = houseOf({
      'src/low/index.ts':
        "type A = typeof import('./a.ts');\nexport const a: A['a'] = async () => (await import('./a.ts')).a();\n" +
        "export { b } from './b.ts';\n",
      'src/low/a.ts': 'export const a = async () => 1;\n',
      'src/low/b.ts': 'export const b = 2;\n',
      'src/one.ts': "import { a } from './low/index.ts';\n",
      'src/two.ts': "const two = (await import('./low/index.ts')).b;\n",
      'src/three.ts': "const { b: three } = await import('./low/index.ts');\n",
    });
    expect(importersOf(house, 'src/low/a.ts')).toEqual(['src/one.ts']);
    expect(importersOf(house, 'src/low/b.ts')).toEqual(['src/two.ts', 'src/three.ts']);
    expect(house.singlePercent).toBeCloseTo(100 / 5);
  });

  test('do not include a file that starts it as a thread', () => {
    const house = houseOf({
      'src/start.ts': "export const SCRIPT = 'src/thread';\n",
      'src/thread.ts': 'work();\n',
    });
    expect(importersOf(house, 'src/thread.ts')).toEqual([]);
  });
});

test('a door offers the names that it passes on, as others see them', () => {
  const { doors } = houseOf(TWO_DOORS);
  expect(Object.fromEntries(doors)).toEqual({
    'src/low/index.ts': ['a', 'B', 'd'],
    'src/high/index.ts': ['one', 'own'],
  });
});

describe('dust', () => {
  const importing = (path: string) => `import { a } from '${path}';\na();\n`;

  test('is a short file whose only importer stands beside it', () => {
    const { single, dust } = houseOf({
      'src/x/a.ts': 'export const a = 1;',
      'src/x/b.ts': importing('./a.ts'),
    });
    expect(dust.map(({ path }) => path)).toEqual(['src/x/a.ts']);
    expect(single).toEqual(dust);
  });

  test.each([
    ['a long file', { 'src/x/a.ts': fileAbout(['a'], 60), 'src/x/b.ts': importing('./a.ts') }],
    [
      'a file that another folder imports',
      { 'src/x/a.ts': 'export const a = 1;', 'src/y/b.ts': importing('../x/a.ts') },
    ],
  ])('is not %s, although it has one importer', (_, files) => {
    const { single, dust } = houseOf(files);
    expect(single.map(({ path }) => path)).toEqual(['src/x/a.ts']);
    expect(dust).toEqual([]);
  });

  test('is not a file with two importers', () => {
    const { single } = houseOf({
      'src/x/a.ts': 'export const a = 1;',
      'src/x/b.ts': importing('./a.ts'),
      'src/x/c.ts': importing('./a.ts'),
    });
    expect(single).toEqual([]);
  });
});

describe('the longest chain of imports', () => {
  test('leads from the first importer to the last imported file, without doors', () => {
    expect(houseOf(TWO_DOORS).chain).toEqual(['src/main.ts', 'src/low/c.ts', 'src/low/a.ts']);
  });

  test('ends where a circle would begin again', () => {
    const { chain } = houseOf({
      'src/a.ts': "import { b } from './b.ts';\nexport const a = b;\n",
      'src/b.ts': "import { c } from './c.ts';\nexport const b = c;\n",
      'src/c.ts': "import { a } from './a.ts';\nexport const c = a;\n",
    });
    expect(chain).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts']);
  });
});

describe('a file with several topics', () => {
  test('is a long one with more than two groups of declarations that do not refer to each other', () => {
    const { mixed } = houseOf({ 'src/a.ts': fileAbout(['red', 'green', 'blue'], 201) });
    expect(mixed.map(({ path }) => path)).toEqual(['src/a.ts']);
    expect(mixed[0]?.groups.map((name) => name.replace(/\d+/, ''))).toEqual(['red', 'green', 'blue']);
  });

  test.each([
    ['is short', fileAbout(['red', 'green', 'blue'], 200)],
    ['has two groups', fileAbout(['red', 'green'], 201)],
    [
      'joins its groups in one function',
      `${fileAbout(['red', 'green', 'blue'], 201)}\nfunction all() { red0(); green1(); blue2(); }`,
    ],
  ])('is none that %s', (_, text) => {
    expect(houseOf({ 'src/a.ts': text }).mixed).toEqual([]);
  });
});
