import Sqlite from 'better-sqlite3';
import { beforeEach, expect, test } from 'vitest';
import { sql } from '../../../schema/query.ts';
import { tables } from '../../../schema/tables.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { refreshRollups } from '../../../src/rollups/refresh.ts';
import { rulesOf, sqlOf, type WrittenRule } from '../../support/bi/grafana.ts';
import { expandAlertSql, type SourceKey } from '../../support/bi/grafana-macros.ts';
import { awayFromMidnight } from '../../support/clock/away-from-midnight.ts';
import { addDays } from '../../support/metrics/calendar.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { daywalkInProcess } from '../../support/process/daywalk-in-process.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';
import { insertRows } from '../../support/warehouse/insert-rows.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const FIRST_DAY = '2026-01-14';

// The alerts read the clock of the database.
const today = () => new Date().toISOString().slice(0, 10);
const now = () => ({ from: new Date(Date.now() - 600_000), to: new Date() });

beforeEach(awayFromMidnight);

/** Stores every day of every stream until yesterday, with a user, for two organizations. */
async function fill(warehouse: Held): Promise<void> {
  for (const orgId of ['org_1', 'org_2']) {
    const rows = new Collector(orgId);
    for (let date = FIRST_DAY; date < today(); date = addDays(date, 1)) {
      const at = `${addDays(date, 1)}T03:00:00.000Z`;
      const content = {
        content_sha256: `content ${date}`,
        first_loaded_at: at,
        last_pulled_at: at,
        settled_at: at,
      };
      const unit = { state: 'loaded', rows: 1, attempts: 1, requests: 1, confirmed: 'data', ...content };
      for (const stream of DAILY_STREAMS) rows.add(tables.exportUnits, { stream, date, ...unit });
      rows.add(tables.userDaily, { date, user_id: 'ada', sessions: 1, billable_tokens: 1_000_000 });
    }
    rows.add(tables.prices, { valid_from: FIRST_DAY, currency: 'EUR', price_per_million: 2 });
    await changeRows(warehouse, { put: rows.all(), remove: [] });
  }
}

/** The rules that fire, with the organizations for which they do, as Grafana evaluates them. */
async function firing(key: SourceKey, warehouse: Held): Promise<string[]> {
  const found: string[] = [];
  for (const { uid, data } of rulesOf(key)) {
    const [query, last, threshold] = data;
    expect([last?.model.type, threshold?.model.type]).toEqual(['reduce', 'threshold']);
    const evaluator = threshold?.model.conditions?.[0]?.evaluator;
    expect(evaluator?.type).toBe('gt');
    const text = expandAlertSql(key, sqlOf(query?.model ?? {}), now());
    const rows = await warehouse.select(sql.raw(text));
    expect(
      rows.map((row) => row['organization']),
      uid,
    ).toEqual(['org_1', 'org_2']);
    for (const { organization, value } of rows) {
      if (Number(value) > Number(evaluator?.params[0])) found.push(`${uid} ${String(organization)}`);
    }
  }
  return found;
}

const yesterday = () => addDays(today(), -1);
const unit = (stream: string, date: string) =>
  `org_id = 'org_1' AND stream = '${stream}' AND date = '${date}'`;
const incident = (endedAt: string | null) =>
  JSON.stringify({
    restatedUntil: null,
    incidents: [
      { id: 'a', kind: 'run-failed', key: 'k', facts: {}, openedAt: 'x', endedAt, isReported: true },
    ],
  });

const state = (warehouse: Held, org_id: string, endedAt: string | null) =>
  insertRows(warehouse.place, 'export_state', [{ org_id, name: 'incidents', value: incident(endedAt) }]);
const setState = (warehouse: Held, name: string) =>
  warehouse.place.execute(`UPDATE export_units SET state = '${name}' WHERE ${unit('tokens', yesterday())}`);

async function budget(warehouse: Held, amount: number, currency = 'EUR'): Promise<void> {
  const month = yesterday().slice(0, 7);
  await insertRows(warehouse.place, 'budgets', [
    { org_id: 'org_1', month, team: 'unassigned', amount, currency },
  ]);
  // The forecast reads the rollups.
  await refreshRollups(warehouse, { orgId: 'org_1', now: new Date() });
}

const quarantine = (warehouse: Held, accepted_at: string | null) =>
  insertRows(warehouse.place, 'quarantine', [
    {
      org_id: 'org_1',
      stream: 'users',
      date: yesterday(),
      record_sha256: 'a',
      reason: 'r',
      path: 'p',
      record: '{}',
      first_seen_at: `${yesterday()}T03:00:00.000Z`,
      accepted_at,
    },
  ]);

type Breaking = readonly [rule: string, what: string, breakIt: (warehouse: Held) => Promise<void>];

const BREAKING: readonly Breaking[] = [
  [
    'stale',
    'no day is stored for three days',
    ({ place }) =>
      place.execute(`DELETE FROM export_units WHERE org_id = 'org_1' AND date >= '${addDays(today(), -2)}'`),
  ],
  ['failed', 'a pull has failed', (warehouse) => setState(warehouse, 'failed')],
  ['doubted', 'a unit is doubted', (warehouse) => setState(warehouse, 'doubted')],
  [
    'missing',
    'an old day of a stream is not stored',
    ({ place }) => place.execute(`DELETE FROM export_units WHERE ${unit('tools', '2026-03-01')}`),
  ],
  ['quarantined', 'a record is in quarantine', (warehouse) => quarantine(warehouse, null)],
  ['incidents', 'an incident is open', (warehouse) => state(warehouse, 'org_1', null)],
  ['budget', 'a team is above its budget', (warehouse) => budget(warehouse, 0.5)],
];

/** The first expected day is the present one, so that yesterday is stored and not expected. */
const beginToday = ({ place }: Held) =>
  insertRows(place, 'contracts', [
    {
      ...{ org_id: 'org_1', first_day: today(), streams: 'tokens,tools,activity,productivity,users' },
      ...{ max_age_seconds: 93_600, changed_at: `${today()}T00:00:00.000Z` },
    },
  ]);
const notExpected = (breakIt: (warehouse: Held) => Promise<void>) => async (warehouse: Held) => {
  await beginToday(warehouse);
  await breakIt(warehouse);
};

const HARMLESS: readonly Breaking[] = [
  [
    'failed',
    'the pull of a day has failed that is no longer expected',
    notExpected((held) => setState(held, 'failed')),
  ],
  [
    'doubted',
    'a day is doubted that is no longer expected',
    notExpected((held) => setState(held, 'doubted')),
  ],
  [
    'quarantined',
    'the record is of a day that is no longer expected',
    notExpected((held) => quarantine(held, null)),
  ],
  [
    'doubted',
    'users seem to have left',
    async (warehouse) => {
      await setState(warehouse, 'doubted');
      const doubt = JSON.stringify({ rule: 'leaver', rows: 1, of: 100, seenOn: [yesterday()] });
      await warehouse.place.execute(
        `UPDATE export_units SET doubt = ? WHERE ${unit('tokens', yesterday())}`,
        doubt,
      );
    },
  ],
  [
    'missing',
    'a day is missing that ended yesterday',
    ({ place }) => place.execute(`DELETE FROM export_units WHERE ${unit('tools', addDays(today(), -2))}`),
  ],
  [
    'quarantined',
    'the record in quarantine is accepted',
    (warehouse) => quarantine(warehouse, `${yesterday()}T09:00:00.000Z`),
  ],
  ['incidents', 'the incident is over', (warehouse) => state(warehouse, 'org_1', '2026-03-01T03:00:00.000Z')],
  ['budget', 'the budget is large', (warehouse) => budget(warehouse, 1e6)],
  ['budget', 'the budget is in another currency', (warehouse) => budget(warehouse, 0.5, 'USD')],
];

onEachDatabase((database) => {
  const key: SourceKey = database.name === 'SQLite' ? 'sqlite' : 'postgres';

  test('no alert fires while every day is stored', async () => {
    const warehouse = await open(database);
    await fill(warehouse);
    expect(await firing(key, warehouse)).toEqual([]);
  });

  test.each(BREAKING)('the alert %s fires, and no other, if %s', async (rule, _, breakIt) => {
    const warehouse = await open(database);
    await fill(warehouse);
    await breakIt(warehouse);
    expect(await firing(key, warehouse)).toEqual([`daywalk-${key}-${rule}`].map((uid) => `${uid} org_1`));
  });

  test.each(HARMLESS)('the alert %s does not fire if %s', async (_rule, _what, change) => {
    const warehouse = await open(database);
    await fill(warehouse);
    await change(warehouse);
    expect(await firing(key, warehouse)).toEqual([]);
  });

  test('a failed run of the warehouse itself is an incident of every organization', async () => {
    const warehouse = await open(database);
    await fill(warehouse);
    await state(warehouse, '', null);
    const uid = `daywalk-${key}-incidents`;
    expect(await firing(key, warehouse)).toEqual([`${uid} org_1`, `${uid} org_2`]);
  });
});

test('a published copy has no number of records and incidents, which it does not hold', {
  tags: 'ci/rare',
}, async () => {
  const warehouse = await open(sqlite);
  await fill(warehouse);
  await quarantine(warehouse, null);
  await state(warehouse, 'org_1', null);
  const copy = tempFile('bi.db');
  const { code, stderr } = await daywalkInProcess(['publish', '--sqlite', copy], {
    env: { DAYWALK_WAREHOUSE: warehouse.place.location },
  });
  expect(code, stderr).toBe(0);
  const numbersIn = (location: string) => {
    const db = new Sqlite(location, { readonly: true });
    const numbers: Record<string, unknown> = {};
    for (const { uid, data } of rulesOf('sqlite')) {
      const text = expandAlertSql('sqlite', sqlOf(data[0]?.model ?? {}), now());
      numbers[uid.replace(/.*-/, '')] = db.prepare<[], { value: unknown }>(text).get()?.value;
    }
    db.close();
    return numbers;
  };
  const own = numbersIn(warehouse.place.location);
  expect(own).toMatchObject({ quarantined: 1, incidents: 1 });
  expect(numbersIn(copy)).toEqual({ ...own, stale: expect.anything(), quarantined: null, incidents: null });
});

test('every alert is broken once', () => {
  const uids = (['postgres', 'sqlite'] as const).flatMap((key) =>
    rulesOf(key).map(({ uid }: WrittenRule) => uid),
  );
  expect(uids.toSorted()).toEqual(
    BREAKING.flatMap(([rule]) => [`daywalk-postgres-${rule}`, `daywalk-sqlite-${rule}`]).toSorted(),
  );
});
