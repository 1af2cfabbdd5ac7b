import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../support/faults/catalogue.ts';

const TESTS = fileURLToPath(new URL('../..', import.meta.url));

/** A name that begins with ids: `N3: …`, or `Z4, Z5: …`. */
const NAMED = /['"`]((?:[A-Z]\d{1,2}, )*[A-Z]\d{1,2}): /g;

/** The ids that names of tests carry, with the files where they stand. */
function idsInNames(): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of readdirSync(TESTS, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.test.ts')) continue;
    for (const [, ids = ''] of readFileSync(join(TESTS, file), 'utf8').matchAll(NAMED)) {
      for (const id of ids.split(', ')) found.set(id, (found.get(id) ?? new Set()).add(file));
    }
  }
  return found;
}

describe('the catalogue of faults', () => {
  const named = idsInNames();

  test('has a test for every row, which carries its id', () => {
    const missing = CATALOGUE.filter(({ id }) => !named.has(id)).map(({ id, fault }) => `${id}: ${fault}`);
    expect(missing).toEqual([]);
  });

  test('has a row for every id that a test carries', () => {
    const known = new Set(CATALOGUE.map(({ id }) => id));
    expect(
      [...named].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${[...files]}`),
    ).toEqual([]);
  });

  test('names each fault once, with what comes of it', () => {
    expect(new Set(CATALOGUE.map(({ id }) => id)).size).toBe(CATALOGUE.length);
    for (const { id, outcome, invariants } of CATALOGUE) {
      expect(outcome.length + invariants.length, id).toBeGreaterThan(0);
    }
  });
});
