import { expect, test } from 'vitest';
import { parseDay } from '../../../src/core/day.ts';
import type { EmailPolicy } from '../../../src/privacy/gate.ts';
import { adversaryWorld, FRUGAL } from '../../support/trust/settled-world.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

/** Older history than the days that are compared every night. */
const FIRST = parseDay('2026-02-20');
/** More than a page of them, so that the watch has a position between two pages. */
const USERS = Array.from({ length: 110 }, (_, index) => `somebody-${index}`);
const PSEUDONYM: EmailPolicy = { mode: 'drop', users: 'pseudonym' };

onEachDatabase((database) => {
  test.each<[policy: string, emails: EmailPolicy, isNamed: boolean]>([
    ['keep', { mode: 'keep' }, true],
    ['pseudonym', PSEUDONYM, false],
  ])('the cursor that the watch remembers, under %s', { tags: 'ci/rare' }, async (_, emails, isNamed) => {
    const { rig, night } = await adversaryWorld(database, { first: FIRST, users: USERS });
    for (const number of [0, 1, 2, 3]) expect(await night(number, { ...FRUGAL, emails })).toBe(0);
    const states = await rig.column<string>('SELECT value FROM export_state ORDER BY name');
    expect(states.length).toBeGreaterThan(1);
    expect(states.some((text) => text.includes('somebody-'))).toBe(isNamed);
  });
});
