// @module-tag campaign/verify

import { expect, onTestFinished, test } from 'vitest';
import { parseDay, shiftDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { startEmulator } from '../../../src/emulator/emulator.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { CANARY_KEY } from '../../support/rig/canary-key.ts';
import { rigOver } from '../../support/rig/rig.ts';
import { keptFacts, keptVersions, restored } from '../../support/upgrade/kept-warehouses.ts';
import { describeFindings, verify } from '../../support/verify/run-verify.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const LEDGER = 'SELECT stream, date, state, settled_at, cursor FROM export_units';

type LedgerRow = Readonly<
  Record<'stream' | 'date' | 'state', string> & Record<'settled_at' | 'cursor', string | null>
>;

/** The digest of the answers that 0.1.0 kept in the cursor of a day. */
function answersIn(cursor: string | null): string | null {
  return cursor === null ? null : (JSON.parse(cursor).answersSha256 ?? null);
}

test('S7: the suite has a warehouse of every released version', () => {
  expect(keptVersions()).toContain('0.1.0');
});

onEachDatabase((database) => {
  test.each(keptVersions())('S7: a warehouse of version %s opens with all its content', async (version) => {
    const facts = keptFacts(version);
    const warehouse = await open(await restored(version, database), { create: false });
    expect(await digestOf(warehouse)).toMatchObject({ tables: facts.digest.tables });
    const { place } = warehouse;
    const count = async (sql: string) =>
      Number((await place.query<{ n: number }>(`SELECT COUNT(*) AS n FROM ${sql}`))[0]?.n);
    expect({
      units: await count('export_units'),
      failed: await count("export_units WHERE state = 'failed'"),
      quarantine: await count('quarantine'),
      restatements: await count('restatements'),
      hookEvents: await count('hook_events'),
    }).toEqual({
      units: facts.units,
      failed: facts.failed,
      quarantine: facts.quarantine,
      restatements: facts.restatements,
      hookEvents: facts.hookEvents,
    });
  });

  test('S7: a day of 0.1.0 that is empty although other streams have activity is awaited again', async () => {
    const place = await restored('0.1.0', database);
    const tokens =
      "UPDATE export_units SET cursor = '$1' WHERE stream = 'tokens' AND date = (SELECT MAX(date) FROM export_units)";
    await place.execute(tokens.replace('$1', '{"answersSha256": "abc"}'));
    await place.execute("UPDATE export_units SET state = 'empty' WHERE stream = 'readiness'");
    const before = await place.query<LedgerRow>(LEDGER);
    const settled = before.filter(({ state, settled_at }) => state === 'loaded' && settled_at !== null);
    const [hole, , quiet] = [...new Set(settled.map(({ date }) => date))].toSorted();
    // As 0.1.0 settled a day whose batch of one stream was late, and one without any activity.
    const empty = "UPDATE export_units SET state = 'empty', rows = 0 WHERE";
    await place.execute(`${empty} date = '${hole}' AND stream = 'users'`);
    await place.execute(`${empty} date = '${quiet}'`);
    await (await open(place, { create: false })).close();
    const after = await place.query<LedgerRow & Record<string, unknown>>(
      LEDGER.replace('settled_at', 'settled_at, confirmed, answers_sha256, active_users'),
    );
    const unitOf = (stream: string, date: string | undefined) =>
      after.find((unit) => unit.stream === stream && unit.date === date);
    expect(unitOf('users', hole)).toMatchObject({ state: 'awaiting', settled_at: null, confirmed: null });
    expect(unitOf('tokens', hole)).toMatchObject({ state: 'loaded', confirmed: 'data' });
    for (const stream of DAILY_STREAMS)
      expect(unitOf(stream, quiet)).toMatchObject({ state: 'empty', confirmed: 'agreed' });
    const others = after.filter(({ date }) => date !== hole && date !== quiet);
    for (const unit of others) {
      const held = before.find(({ stream, date }) => stream === unit.stream && date === unit.date);
      const isHole =
        unit.date !== '' &&
        held?.state === 'empty' &&
        before.some(({ date, state }) => date === unit.date && state !== 'empty');
      expect(unit).toMatchObject({
        state: isHole ? 'awaiting' : held?.state,
        settled_at: isHole ? null : held?.settled_at,
      });
      expect(unit['confirmed'] === null).toBe(unit.settled_at === null);
      // The digest of the responses has its own column; only the readiness reports have a cursor.
      const answers = unit.date === '' ? null : answersIn(held?.cursor ?? null);
      expect(unit['answers_sha256']).toBe(answers);
      expect(unit.cursor).toBe(unit.date === '' ? held?.cursor : null);
      if (unit.stream === 'activity' && unit.state === 'loaded')
        expect(unit['active_users']).toBeGreaterThan(0);
    }
    expect(others.filter((unit) => unit['answers_sha256'] === 'abc')).toHaveLength(1);
  });

  test('S7: an edited ledger of 0.1.0 is still migrated', async () => {
    const place = await restored('0.1.0', database);
    const broken = database.name === 'SQLite' ? '{' : '"{"';
    await place.execute(`UPDATE export_units SET cursor = '${broken}' WHERE stream = 'tokens'`);
    await (await open(place, { create: false })).close();
    const kept = await place.query(
      "SELECT DISTINCT cursor, answers_sha256 FROM export_units WHERE date <> ''",
    );
    expect(kept).toEqual([{ cursor: null, answers_sha256: null }]);
  });

  test.each(keptVersions())(
    'S7: what version %s settled stays settled, and the first night costs an ordinary one',
    { tags: 'ci/variant' },
    async (version) => {
      const { service } = keptFacts(version);
      const today = shiftDay(parseDay(service.today), 3);
      const emulator = await startEmulator({ realistic: true, ...service, today, apiKey: CANARY_KEY });
      onTestFinished(() => emulator.close());
      const rig = rigOver(emulator, await restored(version, database));
      await (await open(rig.place, { create: false })).close();
      const units = `SELECT stream, date, confirmed FROM export_units WHERE date <> '' AND settled_at IS`;
      const settled = await rig.sql(`${units} NOT NULL ORDER BY stream, date`);
      const unsettled = await rig.sql(`${units} NULL`);
      expect(settled.length).toBeGreaterThan(50);
      const { report } = await rig.run({ now: today });
      expect(report).toMatchObject({ exitCode: 0, daysReopened: 0 });
      // What was open, three new days, and the readiness reports.
      expect(report.unitsPlanned).toBe(unsettled.length + 3 * DAILY_STREAMS.length + 1);
      const after = await rig.sql(`${units} NOT NULL ORDER BY stream, date`);
      expect(after).toEqual(expect.arrayContaining(settled));
      const looked = `SELECT COUNT(*) FROM export_units WHERE settled_at IS NOT NULL AND CAST(watch AS text) LIKE '%"looks"%'`;
      expect(Number(await rig.value(looked))).toBe(0);
    },
  );

  test.each(keptVersions())(
    'S7: a warehouse of version %s passes verify, and a run continues it',
    { tags: 'ci/variant' },
    async (version) => {
      const { service } = keptFacts(version);
      const today = shiftDay(parseDay(service.today), 3);
      const emulator = await startEmulator({ realistic: true, ...service, today, apiKey: CANARY_KEY });
      onTestFinished(() => emulator.close());
      const rig = rigOver(emulator, await restored(version, database));
      await (await open(rig.place, { create: false })).close();
      expect(await verify(rig, { now: today })).toMatchObject({
        counts: { broken: 0, hole: 0, oddity: 0 },
        damages: [],
      });
      const { report } = await rig.run({ now: today });
      expect(report).toMatchObject({ exitCode: 0, unitsFailed: 0, unitsLeftOut: 0 });
      // The days that were not settled, what had failed or was in quarantine, and the new days: not the whole history.
      expect(report.unitsDone).toBeLessThan(50);
      expect(await rig.value<number>('SELECT COUNT(*) FROM quarantine')).toBe(0);
      expect(describeFindings((await verify(rig, { now: today })).findings)).toEqual([]);
      // What a service of today says of those days is what a new warehouse would hold.
      await rig.run({ now: today, force: true });
      const anew = rigOver(emulator, sqlite.place());
      await anew.run({ now: today });
      const facts = (rows: readonly object[]) => JSON.stringify(rows);
      for (const table of ['tokens_daily', 'user_daily', 'tools_daily_by_tool', 'readiness_reports']) {
        const sql = `SELECT COUNT(*) AS n FROM ${table}`;
        expect(facts(await rig.sql(sql)), table).toBe(facts(await anew.sql(sql)));
      }
      await rig.place.execute('DELETE FROM hook_events');
      expect(await rig.digest()).toBe(await anew.digest());
    },
  );
});
