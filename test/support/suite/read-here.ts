import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { beforeEach, onTestFinished } from 'vitest';

/** The script of the process that reads a SQLite file for pages, metrics and answers. */
const READER = /reader-entry\.js$/;

const DONE = Symbol.for('daywalk: read here');
const state: { [DONE]?: { isElsewhere: boolean } } = process as object;

/**
 * Reads of SQLite files stay in the process of the tests, as they do where the program is not built: a process for each of them
 * takes longer than most tests. Commands that are processes themselves start theirs.
 */
function stayHere(): { isElsewhere: boolean } {
  const told = { isElsewhere: false };
  const { existsSync } = fs;
  fs.existsSync = (path) => existsSync(path) && (told.isElsewhere || !READER.test(String(path)));
  // So that named imports see it.
  syncBuiltinESMExports();
  return told;
}

// A worker runs many test files, and this before each.
state[DONE] ??= stayHere();

/** The tests of the calling file, or group, read in a process of its own, as users do. */
export function readElsewhere(): void {
  beforeEach(() => {
    const told = state[DONE] ?? stayHere();
    told.isElsewhere = true;
    onTestFinished(() => {
      told.isElsewhere = false;
    });
  });
}
