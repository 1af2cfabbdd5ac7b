// @module-tag campaign/faults

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { CATALOGUE } from '../../support/faults/catalogue.ts';

const TESTS = fileURLToPath(new URL('../..', import.meta.url));

/** A test name that begins with fault ids: `N3: …`, or `Z4, Z5: …`. */
const NAMED = /['"`]((?:[A-Z]\d{1,2}, )*[A-Z]\d{1,2}): /g;

/** The fault ids that appear in test names, with the files that name them. */
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

  test('has a test for every fault', () => {
    const missing = CATALOGUE.filter(({ id }) => !named.has(id)).map(({ id, fault }) => `${id}: ${fault}`);
    expect(missing).toEqual([]);
  });

  test('lists every fault that a test names', () => {
    const known = new Set(CATALOGUE.map(({ id }) => id));
    expect(
      [...named].filter(([id]) => !known.has(id)).map(([id, files]) => `${id} in ${[...files]}`),
    ).toEqual([]);
  });

  test('lists each fault once, with its cause and what the program must do', () => {
    expect(new Set(CATALOGUE.map(({ id }) => id)).size).toBe(CATALOGUE.length);
    for (const { id, fault, cause, expect: expected } of CATALOGUE) {
      expect(Math.min(fault.length, cause.length, expected.length), id).toBeGreaterThan(0);
    }
  });
});
