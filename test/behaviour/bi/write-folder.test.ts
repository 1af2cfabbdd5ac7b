import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { BiFile } from '../../../src/bi/write-folder.ts';
import { MANIFEST_FILE, writeFolder } from '../../../src/bi/write-folder.ts';
import { tempDir } from '../../support/suite/temp-dir.ts';

const FILES: readonly BiFile[] = [
  { path: 'a/one.sql', text: 'SELECT 1;\n' },
  { path: 'a/b/two.sql', text: 'SELECT 2;\n' },
];

/** The texts of all files of a folder by path. */
function textsOf(directory: string): Record<string, string> {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  const paths = entries.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
  return Object.fromEntries(
    paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, 'utf8')]),
  );
}

test('a new folder gets the files, and a second call changes nothing', async () => {
  const folder = join(tempDir(), 'new', 'folder');
  expect(await writeFolder(folder, 'sql', FILES)).toMatchObject({
    files: 2,
    written: 2,
    unchanged: 0,
    removed: 0,
  });
  const first = textsOf(folder);
  expect(first).toMatchObject({ 'a/one.sql': 'SELECT 1;\n', 'a/b/two.sql': 'SELECT 2;\n' });
  expect(await writeFolder(folder, 'sql', FILES)).toMatchObject({ written: 0, unchanged: 2, removed: 0 });
  expect(textsOf(folder)).toEqual(first);
});

test('the same list gives the same bytes in any folder and order', async () => {
  const [one, other] = [tempDir(), tempDir()];
  await writeFolder(one, 'sql', FILES);
  await writeFolder(other, 'sql', [...FILES].reverse());
  expect(textsOf(other)).toEqual(textsOf(one));
});

test('a changed file is replaced, a file that is no longer needed is removed, and a file beside them stays', async () => {
  const folder = tempDir();
  await writeFolder(folder, 'sql', FILES);
  writeFileSync(join(folder, 'mine.sql'), 'SELECT 3;\n');
  const report = await writeFolder(folder, 'sql', [{ path: 'a/one.sql', text: 'SELECT 10;\n' }]);
  expect(report).toMatchObject({ files: 1, written: 1, unchanged: 0, removed: 1 });
  expect(existsSync(join(folder, 'a/b'))).toBe(false);
  expect(textsOf(folder)).toMatchObject({ 'a/one.sql': 'SELECT 10;\n', 'mine.sql': 'SELECT 3;\n' });
});

test.each([
  ['replaced', [{ path: 'a/one.sql', text: 'SELECT 10;\n' }]],
  ['removed', []],
])('a file that a person has edited is not %s: it is named, and nothing is written', async (_, list) => {
  const folder = tempDir();
  await writeFolder(folder, 'sql', FILES);
  writeFileSync(join(folder, 'a/one.sql'), 'SELECT mine;\n');
  const before = textsOf(folder);
  await expect(writeFolder(folder, 'sql', list)).rejects.toMatchObject({
    exitCode: 2,
    details: ['a/one.sql'],
  });
  expect(textsOf(folder)).toEqual(before);
});

test('a file that a person has removed is written again', async () => {
  const folder = tempDir();
  await writeFolder(folder, 'sql', FILES);
  rmSync(join(folder, 'a/one.sql'));
  expect(await writeFolder(folder, 'sql', FILES)).toMatchObject({ written: 1, unchanged: 1 });
});

test('a folder with other files, a file, and the folder of another target are refused', async () => {
  const folder = tempDir();
  writeFileSync(join(folder, 'notes.txt'), 'x');
  await expect(writeFolder(folder, 'sql', FILES)).rejects.toThrow(/holds notes\.txt/);
  await expect(writeFolder(join(folder, 'notes.txt'), 'sql', FILES)).rejects.toThrow(/is not a folder/);
  const other = tempDir();
  await writeFolder(other, 'dbt', FILES);
  await expect(writeFolder(other, 'sql', FILES)).rejects.toThrow(/holds the files for dbt/);
});

test('a symbolic link in place of a folder or a file is refused, so that nothing is written outside', async () => {
  const [folder, outside] = [tempDir(), tempDir()];
  await writeFolder(folder, 'sql', FILES);
  rmSync(join(folder, 'a'), { recursive: true });
  symlinkSync(outside, join(folder, 'a'));
  await expect(writeFolder(folder, 'sql', FILES)).rejects.toThrow(/a is not a regular file or folder/);
  expect(readdirSync(outside)).toEqual([]);
});

test('a list with a path out of the folder removes nothing there', async () => {
  const parent = tempDir();
  const folder = join(parent, 'out');
  writeFileSync(join(parent, 'precious'), 'x');
  await writeFolder(folder, 'sql', FILES);
  const manifest = JSON.parse(readFileSync(join(folder, MANIFEST_FILE), 'utf8'));
  manifest.files['../precious'] = ['0'.repeat(64)];
  writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify(manifest));
  await writeFolder(folder, 'sql', []);
  expect(existsSync(join(parent, 'precious'))).toBe(true);
});

test('after a kill at any file, the next call of the same or another version completes the folder', async () => {
  const newer = [
    { path: 'a/one.sql', text: 'SELECT 10;\n' },
    { path: 'c/three.sql', text: 'SELECT 30;\n' },
  ];
  const newest = [{ path: 'a/one.sql', text: 'SELECT 100;\n' }];
  const [done, both] = [tempDir(), tempDir()];
  await writeFolder(done, 'sql', newest);
  // A file in place of a folder stops the second version after its first file, as a kill does.
  await writeFolder(both, 'sql', FILES);
  mkdirSync(join(both, 'c/three.sql/x'), { recursive: true });
  await expect(writeFolder(both, 'sql', newer)).rejects.toThrow();
  expect(readFileSync(join(both, 'a/one.sql'), 'utf8')).toBe('SELECT 10;\n');
  writeFileSync(join(both, 'a/.one.sql.01234567-89ab-cdef-0123-456789abcdef.part'), 'SEL');
  rmSync(join(both, 'c'), { recursive: true });
  await writeFolder(both, 'sql', newest);
  expect(textsOf(both)).toEqual(textsOf(done));
});
