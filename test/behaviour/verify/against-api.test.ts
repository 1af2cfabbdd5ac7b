// @module-tag campaign/verify

import { describe, expect, test } from 'vitest';
import { exitCodeOf } from '../../../jobs/verify.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { createRig, TODAY } from '../../support/rig/rig.ts';
import { describeFindings, verify } from '../../support/verify/run-verify.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const DAY = parseDay('2026-02-04');
const RANGE = { from: DAY, until: shiftDay(TODAY, -1) };
const UNITS = 6 * 5;

onEachDatabase((database) => {
  test('units whose answers differ now are found, with the differing sums', { tags: 'ci/rare' }, async () => {
    const rig = await createRig({ users: 8, reports: 0 }, { database });
    await rig.run(RANGE);
    const stored = await rig.value<number>('SELECT billable_tokens FROM tokens_daily WHERE date = ?', DAY);
    rig.emulator.revise({ kind: 'restate', day: DAY, streams: ['tokens'] });
    const result = await verify(rig, { againstApi: UNITS, seed: 7 });
    expect(exitCodeOf(result)).toBe(5);
    expect(result.pulledAgain).toMatchObject({ seed: 7, units: UNITS });
    expect(
      new Set(result.findings.map(({ severity, stream, day }) => `${severity} ${stream} ${day}`)),
    ).toEqual(new Set([`difference tokens ${DAY}`]));
    const sum = result.findings.find(({ what }) => what === 'tokens_daily.billable_tokens');
    expect(sum).toMatchObject({ expected: stored });
    expect(sum?.found).not.toBe(stored);
    // The comparison has written nothing. Only the next run stores the new responses.
    expect((await verify(rig)).findings).toEqual([]);
    await rig.run({ ...RANGE, force: true });
    const what = 'user_daily.billable_tokens = tokens_daily.billable_tokens';
    // The service restated one of its endpoints alone, which is odd and nothing else.
    expect(describeFindings((await verify(rig, { againstApi: UNITS, seed: 7 })).findings)).toEqual([
      `oddity users ${DAY} ${what}`,
    ]);
  });
});

describe('a sample', () => {
  test('is the same for the same seed, different for another, and no larger than requested', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, {}, RANGE);
    const askedFor = async (seed: number) => {
      rig.emulator.resetJournal();
      const { pulledAgain } = await verify(rig, { againstApi: 4, seed });
      const { requests, recent } = rig.emulator.journal();
      expect(pulledAgain).toMatchObject({ seed, units: 4, requests });
      return recent.map(({ path, query }) => `${path}?${query}`);
    };
    const first = await askedFor(1);
    expect(await askedFor(1)).toEqual(first);
    expect(await askedFor(2)).not.toEqual(first);
  });

  test('of more units than exist has all of them', async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, {}, RANGE);
    expect((await verify(rig, { againstApi: 100_000, seed: 1 })).pulledAgain).toMatchObject({ units: UNITS });
  });
});

describe('a service that does not answer', () => {
  test('for one unit still compares the others: exit code 4', async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, {}, RANGE);
    rig.emulator.setRules([
      { match: { stream: 'tools', day: DAY }, action: { type: 'status', status: 400 } },
    ]);
    const result = await verify(rig, { againstApi: UNITS, seed: 1 });
    expect(result.counts).toMatchObject({ unanswered: 1, broken: 0, difference: 0, oddity: 0 });
    expect(describeFindings(result.findings)[0]).toMatch(`unanswered tools ${DAY} pulled again: `);
    expect(exitCodeOf(result)).toBe(4);
  });

  test('for the key ends the verification: exit code 3', async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, {}, RANGE);
    rig.emulator.setRules([{ action: { type: 'status', status: 403 } }]);
    expect(await thrownBy(verify(rig, { againstApi: 1 }))).toMatchObject({ exitCode: 3 });
  });

  test('for grouped requests relies on the nested figures', async () => {
    const rig = await exportedRig({ users: 5, reports: 0 }, {}, RANGE);
    rig.emulator.setRules(
      ['model', 'tool_name', 'client'].map((group) => ({
        match: { query: { group_by: group } },
        action: { type: 'status' as const, status: 400 },
      })),
    );
    expect((await verify(rig, { againstApi: UNITS, seed: 1 })).findings).toEqual([]);
  });
});

describe('grouped answers', () => {
  test('that contradict the nested ones are reported as oddities of the service, with numbers: exit code 0', async () => {
    const rig = await createRig({ users: 8, reports: 0 });
    await rig.run(RANGE);
    const groups = { tokens: 'model', tools: 'tool_name', activity: 'client' } as const;
    const operations = [{ op: 'remove' as const, path: '/data/0' }];
    rig.emulator.setRules(
      Object.entries(groups).map(([stream, group]) => ({
        match: { path: `**/${stream}`, day: DAY, query: { group_by: group } },
        action: { type: 'patch' as const, operations },
      })),
    );
    const result = await verify(rig, { againstApi: UNITS, seed: 1 });
    expect(describeFindings(result.findings).toSorted()).toEqual([
      `oddity activity ${DAY} number of groups by client = rows of activity_daily_by_client`,
      `oddity tokens ${DAY} number of groups by model = rows of tokens_daily_by_model`,
      `oddity tools ${DAY} number of groups by tool_name = rows of tools_daily_by_tool`,
    ]);
    expect(exitCodeOf(result)).toBe(0);
  });
});

describe('endpoints that contradict each other', () => {
  test('are reported as oddities of the service, with both numbers: exit code 0', async () => {
    const operations = [{ op: 'set' as const, path: '/data/0/messages', value: 1_000_000 }];
    const rules = [
      { match: { stream: 'activity' as const }, action: { type: 'patch' as const, operations } },
    ];
    const rig = await createRig({ users: 8, reports: 0, rules });
    await rig.run({ ...RANGE, settings: { rangeDays: 1 } });
    const found = await rig.value<number>('SELECT SUM(messages) FROM user_daily WHERE date = ?', DAY);
    const result = await verify(rig);
    const at = { severity: 'oddity', orgId: rig.emulator.orgId, day: DAY };
    const what = 'user_daily.messages = activity_daily.messages';
    expect(result.findings).toContainEqual({ ...at, stream: 'users', what, expected: 1_000_000, found });
    expect(result.counts).toMatchObject({ broken: 0, impossible: 0, hole: 0, difference: 0 });
    expect(exitCodeOf(result)).toBe(0);
  });
});
