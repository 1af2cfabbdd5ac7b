// @module-tag campaign/faults

import { describe, expect, test } from 'vitest';
import { shiftDay } from '../../../src/core/day.ts';
import type { PatchOperation } from '../../../src/emulator/faults/action.ts';
import type { Match, Rule } from '../../../src/emulator/faults/rules.ts';
import {
  casesFor,
  DAY,
  expectRecovery,
  expectUndisturbed,
  smallRig,
  statesOf,
  UNTIL,
  walk,
} from '../../support/faults/three-day-walk.ts';
import { firings } from '../../support/rig/journal.ts';
import type { Rig } from '../../support/rig/rig.ts';
import { testVariants } from '../../support/suite/variants.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

function patch(match: Match, ...operations: PatchOperation[]): Rule {
  return { id: 'fault', match, action: { type: 'patch', operations } };
}

/** What was set aside, with its place. */
function quarantineOf(rig: Rig): Promise<{ stream: string; path: string; reason: string; record: string }[]> {
  return rig.sql(
    'SELECT stream, path, reason, record FROM quarantine ORDER BY stream, path, date, record_sha256',
  );
}

onEachDatabase((database) => {
  describe('P1: an answer that is not JSON is retried once, fails its unit, and changes nothing', () => {
    testVariants(casesFor(database, ['invalid-json', 'invalid-utf8', 'truncated'] as const))(
      'P1: %s',
      async (how) => {
        const rig = await smallRig(database);
        await walk(rig);
        const digest = await rig.digest();
        rig.emulator.setRules([
          { id: 'fault', match: { stream: 'users', day: DAY }, action: { type: 'spoil', how } },
        ]);
        const { report } = await walk(rig, { force: true, settings: { attempts: 5 } });
        // By the comparison of stored users, and by the unit.
        expect(firings(rig, 'fault')).toBe(2 + 2);
        expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1, unitsLeftOut: 0 });
        expect(await rig.digest()).toBe(digest);
        await expectRecovery(rig);
      },
    );

    test('P1: a byte order mark is skipped or refused, and never stored', async () => {
      const rig = await smallRig(database, {
        rules: [{ id: 'fault', match: { stream: 'users', day: DAY }, action: { type: 'spoil', how: 'bom' } }],
      });
      const { report } = await walk(rig);
      expect(firings(rig, 'fault')).toBeGreaterThan(0);
      expect([0, 4]).toContain(report.exitCode);
      await expectRecovery(rig);
    });
  });

  describe('P2: a record without its identity is quarantined, and the rest of the unit loads', () => {
    testVariants<readonly [string, Match, string]>(
      casesFor(database, [
        ['a date', { stream: 'users', day: DAY }, '/data/0/date'],
        ['a user_id', { stream: 'users', day: DAY }, '/data/0/user_id'],
        ['a reportId', { stream: 'readiness', page: 1 }, '/reports/0/reportId'],
      ]),
    )('P2: without %s', async (_, match, path) => {
      const rig = await smallRig(database, { rules: [patch(match, { op: 'remove', path })] });
      const { report } = await walk(rig);
      expect(firings(rig, 'fault')).toBe(1);
      expect(report).toMatchObject({ exitCode: 5, quarantined: 1, unitsFailed: 0 });
      const held = await quarantineOf(rig);
      expect(held).toHaveLength(1);
      expect(held[0]?.stream).toBe(match.stream);
      const table = match.stream === 'users' ? 'user_daily' : 'readiness_reports';
      const day = match.stream === 'users' ? `WHERE date = '${DAY}'` : '';
      const rows = Number(await rig.value(`SELECT COUNT(*) FROM ${table} ${day}`));
      expect(rows).toBeGreaterThan(0);
      await expectRecovery(rig);
      expect(await rig.value(`SELECT COUNT(*) FROM ${table} ${day}`)).toBe(rows + 1);
      expect(await quarantineOf(rig)).toEqual([]);
    });
  });

  test('P3: unknown fields, criteria and client types are kept and reported, and known ones are exact', {
    tags: 'ci/rare',
  }, async () => {
    const rig = await smallRig(database, {
      quirks: { unknownFields: true, newCriteria: true, newClientType: true },
    });
    const { report } = await walk(rig);
    expect(report).toMatchObject({ exitCode: 0, quarantined: 0 });
    const kinds = await rig.column('SELECT DISTINCT kind FROM schema_drift ORDER BY kind');
    expect(kinds).toEqual(['new value', 'unknown field']);
    for (const table of ['tokens_daily', 'user_daily', 'readiness_reports']) {
      expect(await rig.value(`SELECT COUNT(*) FROM ${table} WHERE extra IS NULL`), table).toBe(0);
    }
    // The known columns are those of a service without them.
    const plain = await smallRig(database);
    await walk(plain);
    for (const sql of [
      'SELECT user_id, date, tool_calls, billable_tokens, sessions, primary_model FROM user_daily ORDER BY user_id, date',
      'SELECT date, billable_tokens, input_tokens, output_tokens FROM tokens_daily ORDER BY date',
    ]) {
      expect(await rig.sql(sql)).toEqual(await plain.sql(sql));
    }
  });

  describe('P4: an invalid number is never stored as another number', () => {
    testVariants(
      casesFor(database, [
        ['1e400', '1e400'],
        ['a text', '"many"'],
        ['an integer beyond 2^53', '9007199254740993'],
        ['a truth value', 'true'],
        ['a list', '[1]'],
      ]),
    )('P4: %s', async (_, text) => {
      const path = '/data/0/by_tool/0/invocations';
      const rig = await smallRig(database, {
        rules: [patch({ stream: 'tools', day: DAY }, { op: 'raw', path, text })],
      });
      const { report } = await walk(rig);
      expect(firings(rig, 'fault')).toBe(1);
      expect(report).toMatchObject({ exitCode: 5, quarantined: 1, unitsFailed: 0 });
      const [held] = await quarantineOf(rig);
      expect(held?.record).toContain(text);
      expect(await rig.value('SELECT COUNT(*) FROM tools_daily WHERE date = ?', DAY)).toBe(1);
      await expectRecovery(rig);
    });
  });

  test('P5: metrics that are null or absent, and an email that is null or changes, are stored as sent', async () => {
    const rig = await smallRig(database, { quirks: { nullMetrics: 0.4 } });
    const { report } = await walk(rig);
    expect(report).toMatchObject({ exitCode: 0, quarantined: 0 });
    const absent = Number(await rig.value('SELECT COUNT(*) FROM user_daily WHERE tool_calls IS NULL'));
    const zero = Number(await rig.value('SELECT COUNT(*) FROM user_daily WHERE tool_calls = 0'));
    expect(absent).toBeGreaterThan(0);
    expect(absent).toBeGreaterThan(zero);
    const user = { stream: 'users', day: DAY } as const;
    rig.emulator.setRules([
      patch(
        user,
        { op: 'set', path: '/data/0/user_email', value: null },
        { op: 'set', path: '/data/1/user_email', value: 'moved@example.com' },
      ),
    ]);
    expect((await walk(rig, { force: true })).report).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(firings(rig, 'fault')).toBe(1);
    const emails = await rig.column('SELECT user_email FROM user_daily WHERE date = ? ORDER BY user_id', DAY);
    expect(emails.slice(0, 2)).toEqual([null, 'moved@example.com']);
  });

  test('P6: a row of a day that was not requested is quarantined, and stored under neither day', {
    tags: 'ci/rare',
  }, async () => {
    const value = '2026-01-14';
    const rig = await smallRig(database, {
      rules: [patch({ stream: 'users', day: DAY }, { op: 'set', path: '/data/0/date', value })],
    });
    const { report } = await walk(rig);
    expect(firings(rig, 'fault')).toBe(1);
    expect(report).toMatchObject({ exitCode: 5, quarantined: 1 });
    expect((await quarantineOf(rig))[0]?.reason).toContain(value);
    expect((await statesOf(rig, 'users'))[DAY]).toBe('quarantined');
    await expectRecovery(rig);
  });

  test('P7: answers about another organization end the run with exit code 5 before anything is written', async () => {
    const rig = await smallRig(database);
    await walk(rig);
    const digest = await rig.digest();
    rig.emulator.setRules([
      patch({ stream: 'tools', day: DAY }, { op: 'set', path: '/meta/org_id', value: 'org_other' }),
    ]);
    const { report } = await walk(rig, { force: true });
    expect(firings(rig, 'fault')).toBeGreaterThan(0);
    expect(report.exitCode).toBe(5);
    expect(report.problems.map(({ message }) => message).join()).toContain('org_other');
    expect(await rig.digest()).toBe(digest);
    await expectRecovery(rig);
  });

  test('P8: servers that differ by case become one row with all spellings, and broken tool names are flagged', async () => {
    const value = [
      { server: 'GitHub', invocations: 3 },
      { server: 'github', invocations: 4 },
    ];
    const tools = [{ tool: 'read</tool><tool>', invocations: 2 }];
    const rig = await smallRig(database, {
      rules: [
        patch(
          { stream: 'tools', day: DAY },
          { op: 'set', path: '/data/0/mcp_by_server', value },
          { op: 'set', path: '/data/0/by_tool', value: tools },
        ),
      ],
    });
    expect((await walk(rig)).report).toMatchObject({ exitCode: 0, quarantined: 0 });
    expect(firings(rig, 'fault')).toBe(1);
    const [server, ...others] = await rig.sql<{ server: string; invocations: number; spellings: string }>(
      'SELECT server, invocations, spellings FROM tools_daily_by_mcp_server WHERE date = ?',
      DAY,
    );
    expect(others).toEqual([]);
    expect(server).toMatchObject({ server: 'github', invocations: 7 });
    expect(JSON.parse(server?.spellings ?? '')).toEqual({ GitHub: 3, github: 4 });
    expect(
      await rig.sql('SELECT tool, invocations, is_artifact FROM tools_daily_by_tool WHERE date = ?', DAY),
    ).toEqual([{ tool: 'read</tool><tool>', invocations: 2, is_artifact: 1 }]);
    await expectRecoveryByForce(rig);
  });

  test('P9: yesterday, when not available yet, is awaited without zeros and pulled again', {
    tags: 'ci/again',
  }, async () => {
    const last = UNTIL;
    const rig = await smallRig(database, { today: shiftDay(last, 1), quirks: { lateBatch: true } });
    const now = shiftDay(last, 1);
    const request = { now, settings: { rangeDays: 1 } };
    const { report } = await rig.run(request);
    expect(report).toMatchObject({ exitCode: 0, states: { awaiting: 5 } });
    expect((await statesOf(rig, 'tokens'))[last]).toBe('awaiting');
    expect(await rig.value('SELECT COUNT(*) FROM tokens_daily WHERE date = ?', last)).toBe(0);
    expect(
      await rig.value('SELECT COUNT(*) FROM export_units WHERE date = ? AND settled_at IS NULL', last),
    ).toBe(5);
    rig.emulator.setQuirks({ lateBatch: false });
    expect((await rig.run(request)).report.exitCode).toBe(0);
    await expectUndisturbed(rig, { today: rig.today });
    expect(await rig.value('SELECT COUNT(*) FROM restatements')).toBe(0);
  });

  test('P10: a restated past day replaces the stored content, and the change is recorded', {
    tags: 'ci/again',
  }, async () => {
    const rig = await smallRig(database, { today: shiftDay(UNTIL, 1) });
    const request = { now: shiftDay(UNTIL, 1), settings: { rangeDays: 1 } };
    await rig.run(request);
    const tokens = () =>
      rig.value<number>('SELECT billable_tokens FROM tokens_daily WHERE date = ?', DAY).then(Number);
    const before = await tokens();
    const revision = rig.emulator.revise({ kind: 'restate', day: DAY });
    expect(revision.number).toBe(1);
    expect((await rig.run(request)).report.restatements).toBeGreaterThan(0);
    const after = await tokens();
    expect(after).not.toBe(before);
    const [record] = await rig.sql<{ before: string; after: string }>(
      "SELECT before, after FROM restatements WHERE stream = 'tokens' AND date = ?",
      DAY,
    );
    expect(record?.before).toContain(String(before));
    expect(record?.after).toContain(String(after));
  });

  testVariants([
    ['a user', 'vanish-users'],
    ['a model', 'vanish-models'],
    ['a language', 'vanish-languages'],
    ['the whole day', 'empty'],
  ] as const)(
    'P11: %s that disappears before the next pull leaves no ghost rows',
    { tags: 'ci/again' },
    async (_, kind) => {
      const rig = await smallRig(database);
      await walk(rig);
      const before = await rig.digest();
      rig.emulator.revise({ kind, day: DAY });
      const { report } = await walk(rig, { force: true });
      // What is too much to be believed at once is doubted first.
      const isDoubted = kind === 'empty';
      expect(report).toMatchObject({ exitCode: isDoubted ? 5 : 0, unitsDoubted: isDoubted ? 5 : 0 });
      if (isDoubted) expect((await walk(rig, { force: true, acceptLoss: true })).report.exitCode).toBe(0);
      expect(await rig.digest()).not.toBe(before);
      // A warehouse that never saw what is gone.
      const fresh = await smallRig(database);
      fresh.emulator.revise({ kind, day: DAY });
      await walk(fresh);
      expect(await rig.digest()).toBe(await fresh.digest());
    },
  );
});

/** What was stored from patched answers is settled: only force asks for it again. */
async function expectRecoveryByForce(rig: Rig): Promise<void> {
  rig.emulator.setRules([]);
  expect((await walk(rig, { force: true })).report.exitCode).toBe(0);
  await expectUndisturbed(rig);
}
