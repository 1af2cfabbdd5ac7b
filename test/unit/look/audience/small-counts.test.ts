import { expect, test } from 'vitest';
import { parseDay } from '../../../../src/core/day.ts';
import { reasonToWithhold } from '../../../../src/look/report/guard-reader.ts';

const period = { from: parseDay('2026-11-01'), until: parseDay('2026-11-19') };
const asked = (metric: string, more: { readonly team?: string } = {}) =>
  reasonToWithhold({ orgId: 'org', metric, by: [], ...period, ...more }, { weeks: true });

test('how many people were new is withheld from readers who see no person', () => {
  expect(asked('new_users')).toMatch(/new is for managers/);
  expect(asked('new_users', { team: 'design' })).toMatch(/new is for managers/);
  expect(asked('active_users')).toBeNull();
});

test('inactive people are counted for an organization, and not for one team', () => {
  expect(asked('inactive_users')).toBeNull();
  expect(asked('inactive_users', { team: 'design' })).toMatch(/one team were inactive/);
});
