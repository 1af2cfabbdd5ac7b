import { execFileSync, spawn } from 'node:child_process';
import {
  createWriteStream,
  existsSync,
  globSync,
  mkdtempSync,
  openSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { open, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { importsOf, ROOT, withoutComments } from '../support/structure/sources.ts';

/** What a file imports that holds a socket, a process, a thread or a server of databases. */
const HANDLES =
  /from '(node:(?:child_process|cluster|dgram|http|http2|https|net|tls|worker_threads)|pg|undici|playwright-core)'/g;
/** Where it is forbidden by purpose: the guard and its test. */
const GUARD = ['test/unit/memory-only.test.ts', 'test/support/suite/memory-only.ts'];

describe('a unit test', () => {
  const path = '/nowhere/daywalk';

  test.each<[what: string, attempt: () => unknown]>([
    ['a connection', () => connect(1)],
    ['a connection', () => fetch('http://127.0.0.1:59999')],
    ['a server', () => createServer().listen(0)],
    ['a process', () => spawn('true')],
    ['a process', () => execFileSync('true')],
    ['a thread', () => new Worker('', { eval: true })],
    ['writing a file', () => writeFileSync(path, '')],
    ['writing a file', () => writeFile(path, '')],
    ['writing a file', () => openSync(path, 'a')],
    ['writing a file', () => open(path, 'w')],
    ['writing a file', () => createWriteStream(path)],
    ['writing a file', () => mkdtempSync(path)],
    ['a database in a file', () => new Sqlite(path)],
  ])('is refused %s', async (what, attempt) => {
    const error = await (async () => attempt())().then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(String(error?.cause ?? error)).toContain(`${what} is not for test/unit`);
  });

  test('may read files, and hold a database in memory', async () => {
    expect(readFileSync(import.meta.filename, 'utf8')).toBe(await readFile(import.meta.filename, 'utf8'));
    expect(new Sqlite(':memory:').prepare('SELECT 1').pluck().get()).toBe(1);
  });

  // The program itself has files that could open something: what it does is refused when it does it.
  test('imports no socket, process, thread or server, nor does its support', () => {
    const seen = new Map<string, string>();
    const left = globSync('test/unit/**/*.test.ts', { cwd: ROOT }).filter((file) => !GUARD.includes(file));
    expect(left.length).toBeGreaterThan(80);
    for (let file = left.pop(); file !== undefined; file = left.pop()) {
      const text = readFileSync(join(ROOT, file), 'utf8');
      seen.set(file, text);
      const support = importsOf({ path: file, text }).filter(
        ({ to, isType }) => to.startsWith('test/') && !isType && !seen.has(to) && existsSync(join(ROOT, to)),
      );
      left.push(...support.map(({ to }) => to));
    }
    const found = [...seen].flatMap(([file, text]) =>
      Array.from(withoutComments(text).matchAll(HANDLES), ([, name]) => `${file} imports ${name}`),
    );
    expect(found).toEqual([]);
  });
});
