// @module-tag database-specific

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Values } from '../../../schema/row.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import type { DayCommit } from '../../../src/units/unit.ts';
import { digestOf } from '../../../src/warehouse/digest.ts';
import { thrownBy } from '../../support/api/test-transport.ts';
import { type CommitSpec, commitDay, commitOf } from '../../support/warehouse/commit-of.ts';
import { type Held, onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const SEED = 20_260_215;
const DAYS = ['2026-02-01', '2026-02-02', '2026-02-03'];

const model = (id: string, billable: number | null): Values => [id, null, billable, 1, 1, 1, 1, null];
const quarantined = [{ reason: 'is wrong', path: 'data[0]', record: '{"a": 1}', recordSha256: 'sha-a' }];

/** Everything that the ledger and its findings say, the instants of a restatement aside. */
async function ledgerOf({ place }: Held): Promise<unknown> {
  return Promise.all(
    [
      'SELECT * FROM export_units ORDER BY org_id, stream, date',
      'SELECT org_id, stream, date, "before", "after" FROM restatements ORDER BY 1, 2, 3, detected_at',
      'SELECT * FROM quarantine ORDER BY org_id, stream, date, record_sha256',
      'SELECT * FROM schema_drift ORDER BY org_id, stream, path',
    ].map((sql) => place.query(sql)),
  );
}

async function oneByOne(warehouse: Warehouse, commits: readonly DayCommit[]) {
  const outcomes = [];
  for (const commit of commits) outcomes.push(await commitDay(warehouse, commit));
  return outcomes;
}

onEachDatabase((database) => {
  describe('several days committed together', () => {
    it('are each stored and each reported', async () => {
      const warehouse = await open(database);
      await commitDay(
        warehouse,
        commitOf({ day: '2026-02-01', rows: { tokens_daily_by_model: [model('a', 1), model('b', 2)] } }),
      );
      await commitDay(
        warehouse,
        commitOf({ day: '2026-02-02', rows: { tokens_daily_by_model: [model('a', 1)] } }),
      );
      const outcomes = await warehouse.commitDays([
        // One row updated, one deleted, one added.
        commitOf({ day: '2026-02-01', rows: { tokens_daily_by_model: [model('b', 3), model('c', 4)] } }),
        commitOf({ day: '2026-02-02', rows: { tokens_daily_by_model: [model('a', 1)] } }),
        commitOf({ day: '2026-02-03', rows: { tokens_daily_by_model: [model('a', 9)] } }),
      ]);
      expect(outcomes).toMatchObject([
        { rowsWritten: 3, restated: true },
        { rowsWritten: 0, restated: false },
        { rowsWritten: 1, restated: false },
      ]);
      const sql = 'SELECT date, model_id, billable_tokens FROM tokens_daily_by_model ORDER BY date, model_id';
      expect((await warehouse.place.query(sql)).map((row) => Object.values(row))).toEqual([
        ['2026-02-01', 'b', 3],
        ['2026-02-01', 'c', 4],
        ['2026-02-02', 'a', 1],
        ['2026-02-03', 'a', 9],
      ]);
    });

    it('may be an empty list', async () => {
      const warehouse = await open(database);
      expect(await warehouse.commitDays([])).toEqual([]);
    });

    it('are stored all or none', async () => {
      const warehouse = await open(database);
      await commitDay(
        warehouse,
        commitOf({ day: '2026-02-01', rows: { tokens_daily_by_model: [model('a', 1)] } }),
      );
      const [digest, ledger] = [await digestOf(warehouse), await ledgerOf(warehouse)];
      const good = commitOf({
        day: '2026-02-01',
        rows: { tokens_daily_by_model: [model('a', 2)] },
        quarantined,
      });
      const bad = commitOf({
        day: '2026-02-02',
        rows: { tokens_daily_by_model: [[null, ...model('a', 1).slice(1)]] },
      });
      expect(await thrownBy(warehouse.commitDays([good, bad]))).toBeInstanceOf(Error);
      expect(await digestOf(warehouse)).toEqual(digest);
      expect(await ledgerOf(warehouse)).toEqual(ledger);
      expect(await warehouse.commitDays([good])).toMatchObject([{ rowsWritten: 1, restated: true }]);
    });

    it('may have thousands of rows', async () => {
      const warehouse = await open(database);
      const many = (billable: number) =>
        DAYS.map((day) =>
          commitOf({
            day,
            rows: { tokens_daily_by_model: Array.from({ length: 400 }, (_, n) => model(`m ${n}`, billable)) },
          }),
        );
      expect(await warehouse.commitDays(many(1))).toMatchObject(
        DAYS.map(() => ({ rowsWritten: 400, restated: false })),
      );
      expect(await warehouse.commitDays(many(1))).toMatchObject(
        DAYS.map(() => ({ rowsWritten: 0, restated: false })),
      );
      expect(await warehouse.commitDays(many(2))).toMatchObject(
        DAYS.map(() => ({ rowsWritten: 400, restated: true })),
      );
    });
  });

  describe('any days committed together', () => {
    const spec: fc.Arbitrary<CommitSpec> = fc.record({
      day: fc.constantFrom(...DAYS),
      rows: fc
        .uniqueArray(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(fc.nat(3))), {
          selector: ([id]) => id,
          maxLength: 3,
        })
        .map((models) => ({ tokens_daily_by_model: models.map(([id, billable]) => model(id, billable)) })),
      settled: fc.boolean(),
      rewrite: fc.boolean(),
      quarantined: fc.constantFrom([], quarantined),
      drift: fc.constantFrom([], [{ path: 'data[].new', kind: 'unknown field' as const, sample: '1' }]),
      pulledAt: fc.constantFrom('2026-02-05T00:00:00.000Z', '2026-02-06T00:00:00.000Z'),
    });
    const group = fc.uniqueArray(spec, { selector: ({ day }) => day, maxLength: 3 });

    it(`leave the same content as when committed one by one (seed ${SEED})`, {
      tags: 'ci/again',
    }, async () => {
      const [together, alone] = [await open(database), await open(database)];
      let orgs = 0;
      await fc.assert(
        fc.asyncProperty(fc.array(group, { maxLength: 4 }), async (groups) => {
          const orgId = `org_${++orgs}`;
          for (const specs of groups) {
            const commits = specs.map((each) => commitOf({ ...each, orgId }));
            expect(await together.commitDays(commits)).toEqual(await oneByOne(alone, commits));
          }
          expect(await digestOf(together)).toEqual(await digestOf(alone));
          expect(await ledgerOf(together)).toEqual(await ledgerOf(alone));
        }),
        { numRuns: 20, seed: SEED },
      );
    });
  });
});
