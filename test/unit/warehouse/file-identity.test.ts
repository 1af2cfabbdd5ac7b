import { copyFileSync, renameSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { fileAt, watchCommits } from '../../../src/warehouse/sqlite/file-identity.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';

/** How long nobody notices that a process hears no signals. */
const UNNOTICED_MS = 1_000;

/** A file with a table, and a connection that writes to it. */
function filled() {
  const path = tempFile();
  const writer = new Sqlite(path);
  onTestFinished(() => void writer.close());
  writer.exec('CREATE TABLE t (n)');
  return { path, writer };
}

function watchOf(path: string, { opened }: { opened: string | undefined } = { opened: fileAt(path) }) {
  const watch = watchCommits(path, opened);
  onTestFinished(() => watch?.close());
  return watch;
}

describe('a watch for commits', () => {
  test('is quiet until somebody commits', () => {
    const { path, writer } = filled();
    const watch = watchOf(path);
    expect(watch?.isQuiet()).toBe(true);
    writer.exec('BEGIN; INSERT INTO t VALUES (1); ROLLBACK');
    expect(watch?.isQuiet()).toBe(true);
    writer.exec('INSERT INTO t VALUES (1)');
    expect(watch?.isQuiet()).toBe(false);
  });

  test('is not quiet where the path leads to another file than the one that was opened', () => {
    const { path } = filled();
    const opened = fileAt(path);
    const watch = watchOf(path);
    copyFileSync(path, `${path}.other`);
    renameSync(`${path}.other`, path);
    expect(watch?.isQuiet()).toBe(false);
    expect(watchOf(path, { opened })?.isQuiet()).toBe(false);
    expect(watchOf(path)?.isQuiet()).toBe(true);
    expect(watchOf(path, { opened: fileAt(`${path}.none`) })?.isQuiet()).toBe(false);
  });

  test('does not hold the process up where another one keeps the file to itself', () => {
    const { path, writer } = filled();
    const quiet = watchOf(path);
    writer.exec('BEGIN EXCLUSIVE');
    const since = performance.now();
    expect(watchOf(path)?.isQuiet()).toBe(false);
    expect(quiet?.isQuiet()).toBe(false);
    expect(performance.now() - since).toBeLessThan(UNNOTICED_MS);
  });
});
