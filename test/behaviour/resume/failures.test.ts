import { describe, expect, test } from 'vitest';
import { hintOf } from '../../../src/cli/remedies.ts';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import type { Rule } from '../../../src/emulator/faults/rules.ts';
import { hurriedClock } from '../../support/clock/hurried-clock.ts';
import { expectedTables } from '../../support/rig/expected-tables.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { firings, requestsOf } from '../../support/rig/journal.ts';
import { createRig } from '../../support/rig/rig.ts';
import { onEachDatabase } from '../../support/warehouse/each-database.ts';

const day = parseDay('2026-01-20');
/** Early in the history: few days are enough. */
const today = parseDay('2026-01-27');
const DAYS = 13;
/** Where it counts what follows from failures, and not how long the waits are. */
const clock = hurriedClock(`${today}T03:00:00Z`);

function status(code: number, match: Rule['match'], when?: Rule['when']): Rule {
  return {
    id: 'fault',
    ...(match && { match }),
    ...(when && { when }),
    action: { type: 'status', status: code },
  };
}

onEachDatabase((database) => {
  describe('a refused credential ends the run at once with exit code 3', () => {
    for (const [code, hint] of [
      [401, /DAYWALK_API_KEY/],
      [403, /Manager or Owner/],
    ] as const) {
      test(`${code}: one request, nothing written`, async () => {
        const rig = await createRig({ today }, { database });
        await rig.run({ until: parseDay('2026-01-15') });
        const [units, requests] = [
          await rig.value('SELECT COUNT(*) FROM export_units'),
          requestsOf(rig).length,
        ];
        rig.emulator.setRules([status(code, {})]);
        const { report } = await rig.run();
        expect(report.exitCode).toBe(3);
        expect(hintOf(report.problems[0] ?? { hint: undefined })).toMatch(hint);
        expect(requestsOf(rig)).toHaveLength(requests + 1);
        expect(await rig.value('SELECT COUNT(*) FROM export_units')).toBe(units);
        expect(await rig.column('SELECT exit_code FROM export_runs ORDER BY exit_code')).toEqual([0, 3]);
      });
    }

    test('a key revoked during a run keeps what was committed, and a run with a valid key completes the copy', {
      tags: 'ci/again',
    }, async () => {
      const rig = await createRig({ today, rules: [status(401, {}, { after: 30 })] }, { database });
      const first = await rig.run({ settings: { rangeDays: 1 } });
      expect(first.report.exitCode).toBe(3);
      expect(first.report.unitsDone).toBeGreaterThan(10);
      expect(first.report.unitsLeftOut).toBeGreaterThan(10);
      rig.emulator.setRules([]);
      const second = await rig.run();
      expect(second.report.exitCode).toBe(0);
      expect(second.report.unitsDone).toBeLessThan(DAYS * 5);
    });

    test('keys of members and guests are refused, and the error names the role', async () => {
      const rig = await createRig({ today }, { database });
      for (const apiKey of [rig.emulator.keys.member, rig.emulator.keys.guest]) {
        const { report } = await rig.run({ settings: { apiKey } });
        expect(report.exitCode).toBe(3);
        expect(report.problems[0]?.hint).toMatch(/Manager or Owner/);
      }
      expect((await rig.run({ settings: { apiKey: rig.emulator.keys.manager } })).report.exitCode).toBe(0);
    });

    test('a refusal of only the readiness reports leaves the analytics complete', async () => {
      const rig = await createRig({ today, rules: [status(403, { stream: 'readiness' })] }, { database });
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 3, unitsDone: DAYS * 5, unitsFailed: 1, unitsLeftOut: 0 });
    });
  });

  describe('a unit that fails does not keep the others from being exported', () => {
    test('a day refused with 400 is recorded with its requestId, and the next run resumes', {
      tags: 'ci/again',
    }, async () => {
      const rig = await createRig({ today, rules: [status(400, { stream: 'tools', day })] }, { database });
      const { report } = await rig.run({ settings: { rangeDays: 1 } });
      expect(firings(rig, 'fault')).toBe(1);
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1, unitsDone: DAYS * 5, unitsLeftOut: 0 });
      const [unit] = await rig.sql(
        "SELECT date, state, rows, last_error FROM export_units WHERE state = 'failed'",
      );
      expect(unit).toMatchObject({ date: day, rows: 0 });
      expect(unit?.['last_error']).toMatch(/answered 400.*requestId req_/);
      rig.emulator.setRules([]);
      const again = await rig.run();
      expect(again.report.exitCode).toBe(0);
      expect(
        await rig.column("SELECT COUNT(*) FROM export_units WHERE state NOT IN ('loaded', 'awaiting')"),
      ).toEqual([0]);
    });

    test('a permanently failing endpoint is abandoned after a few units, and the other streams are complete', async () => {
      const rig = await createRig({ today, rules: [status(500, { stream: 'productivity' })] }, { database });
      const { report } = await rig.run({ settings: { attempts: 1, concurrency: 2 }, clock });
      expect(report.exitCode).toBe(4);
      expect(report.unitsDone).toBe(DAYS * 4 + 1);
      expect(report.unitsFailed + report.unitsLeftOut).toBe(DAYS);
      expect(firings(rig, 'fault')).toBeLessThanOrEqual(8);
      expect(report.problems.map(({ message }) => message).join()).toMatch(
        /productivity: \d+ units were left out/,
      );
    });

    const noJson: Rule = { match: { stream: 'tokens' }, action: { type: 'spoil', how: 'invalid-json' } };
    test.each([
      ['with a status', status(500, { stream: 'tokens' })],
      ['with text that is not JSON', noJson],
    ])('the first endpoint used to find the organization may fail %s', async (_, rule) => {
      const rig = await createRig({ today, rules: [rule] }, { database });
      const { report } = await rig.run({ settings: { attempts: 1 } });
      expect(report.orgId).toBe(rig.emulator.orgId);
      expect(report.unitsDone).toBe(DAYS * 4 + 1);
    });

    test('a service that is down ends the run within bounded requests', { tags: 'ci/again' }, async () => {
      const rig = await exportedRig({ today }, { database }, { until: parseDay('2026-01-16') });
      rig.emulator.setRules([status(503, {})]);
      const before = requestsOf(rig).length;
      const { report } = await rig.run({ settings: { attempts: 2, patience: 0 }, clock });
      expect(report.exitCode).toBe(4);
      expect(requestsOf(rig).length - before).toBeLessThan(40);
      rig.emulator.setRules([]);
      expect((await rig.run()).report.exitCode).toBe(0);
    });

    test('a host that does not serve the API ends the run within bounded requests', async () => {
      const rig = await exportedRig({ today }, { database }, { until: parseDay('2026-01-16') });
      rig.emulator.setRules([status(404, {}, { after: 1 })]);
      rig.emulator.resetJournal();
      const { report } = await rig.run();
      expect(report.exitCode).toBe(4);
      expect(requestsOf(rig).length).toBeLessThan(30);
    });

    test('a stored day whose new pull fails keeps its rows', { tags: 'ci/rare' }, async () => {
      const rig = await exportedRig({ today }, { database });
      const digest = await rig.digest();
      rig.emulator.setRules([status(400, { stream: 'users', day: parseDay('2026-01-26') })]);
      const { report } = await rig.run();
      expect(report.exitCode).toBe(4);
      expect(await rig.digest()).toBe(digest);
      expect(
        await rig.column("SELECT state FROM export_units WHERE stream = 'users' AND date = '2026-01-26'"),
      ).toEqual(['failed']);
    });
  });

  describe('answers are checked', () => {
    test('a number that cannot be stored is quarantined with all its digits, in the smallest part', {
      tags: 'ci/again',
    }, async () => {
      const rig = await createRig({ today }, { database });
      const operations = [
        { op: 'raw' as const, path: '/data/0/by_tool/0/invocations', text: '9007199254740993' },
      ];
      rig.emulator.setRules([
        { id: 'fault', match: { stream: 'tools', day }, action: { type: 'patch', operations } },
      ]);
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 5, quarantined: 1 });
      const [held] = await rig.sql('SELECT path, record FROM quarantine');
      expect(held?.['path']).toBe('data[0].by_tool[0]');
      expect(held?.['record']).toContain('9007199254740993');
      expect(await rig.column('SELECT COUNT(*) FROM tools_daily WHERE date = ?', day)).toEqual([1]);
      expect(
        Number(await rig.value('SELECT COUNT(*) FROM tools_daily_by_tool WHERE date = ?', day)),
      ).toBeGreaterThan(0);
    });

    test('a day is never stored from pages of two states, even if one page was requested earlier', async () => {
      const rig = await createRig({ today, users: 60, quirks: { usersLimitCap: 4 } }, { database });
      const until = parseDay('2026-01-20');
      // The newest day is requested first, to learn the organization, and then pulled; it changes in between.
      rig.emulator.setRules([
        {
          id: 'fault',
          match: { stream: 'users', day: until },
          when: { after: 1, count: 1 },
          action: [{ type: 'revise', revision: { kind: 'restate', day: until } }],
        },
      ]);
      const { report } = await rig.run({
        streams: ['users'],
        until,
        settings: { concurrency: 1, rangeDays: 1 },
      });
      expect(report.exitCode).toBe(0);
      expect(firings(rig, 'fault')).toBe(1);
      const expected = await expectedTables(rig.emulator, [until]);
      const held = await rig.sql<{ user_id: string; tool_calls: number }>(
        'SELECT user_id, tool_calls FROM user_daily WHERE date = ?',
        until,
      );
      expect(held.map(({ user_id, tool_calls }) => `${user_id} ${tool_calls}`).sort()).toEqual(
        (expected.get('user_daily') ?? []).map((row) => `${row[2]} ${row[4]}`).sort(),
      );
    });

    test('names with a line break are validated like all others', async () => {
      const rig = await createRig({ today }, { database });
      const operations = [
        {
          op: 'raw' as const,
          path: '/data/0/daily_active_users_by_client',
          text: '{"web":3,"x\\ny":{"a":1}}',
        },
      ];
      rig.emulator.setRules([{ match: { stream: 'activity', day }, action: { type: 'patch', operations } }]);
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 5, quarantined: 1 });
      expect(await rig.column('SELECT client FROM activity_daily_by_client WHERE date = ?', day)).toEqual([
        'web',
      ]);
    });

    test('unknown fields are kept exactly and reported once', async () => {
      const rig = await createRig({ today }, { database });
      const operations = [
        { op: 'raw' as const, path: '/data/*/new_field', text: '{"big":123456789012345678901,"a":1e400}' },
      ];
      rig.emulator.setRules([{ match: { stream: 'activity' }, action: { type: 'patch', operations } }]);
      expect((await rig.run()).report.exitCode).toBe(0);
      expect(await rig.column('SELECT DISTINCT extra FROM activity_daily')).toEqual([
        '{"new_field":{"a":1e400,"big":123456789012345678901}}',
      ]);
      expect(await rig.sql('SELECT stream, path, kind, first_seen_on FROM schema_drift')).toEqual([
        { stream: 'activity', path: 'data[].new_field', kind: 'unknown field', first_seen_on: '2026-01-14' },
      ]);
    });

    test('a walk over users with a repeated cursor fails its unit and stores nothing', {
      tags: 'ci/rare',
    }, async () => {
      const rig = await createRig({ today, quirks: { usersLimitCap: 3 } }, { database });
      rig.emulator.setRules([
        { id: 'fault', match: { stream: 'users', day, page: 2 }, action: { type: 'cursor', mode: 'repeat' } },
      ]);
      const { report } = await rig.run();
      expect(report).toMatchObject({ exitCode: 4, unitsFailed: 1 });
      expect(await rig.column('SELECT COUNT(*) FROM user_daily WHERE date = ?', day)).toEqual([0]);
    });

    test('with a clock ahead the day is awaited, and a warning names it', async () => {
      const rig = await createRig({ today }, { database });
      const { report, events } = await rig.run({ now: shiftDay(today, 1) });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0 });
      expect(JSON.stringify(events)).toContain('clock is ahead');
      const refused = "SELECT date FROM export_units WHERE state = 'awaiting' AND last_error IS NOT NULL";
      expect(await rig.column(refused)).toEqual(Array(5).fill(today));
    });
  });
});
