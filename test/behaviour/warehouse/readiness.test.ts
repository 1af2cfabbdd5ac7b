import { describe, expect, it } from 'vitest';
import { contentSha256 } from '../../../schema/digest.ts';
import type { Values } from '../../../schema/row.ts';
import { readReadinessUnit } from '../../../src/ledger/ledger.ts';
import { commitReadinessPage, endReadinessWalk, knownReports } from '../../../src/ledger/readiness.ts';
import type { ReadinessPageCommit } from '../../../src/ledger/transitions.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';
import type { QuarantinedRecord } from '../../../src/units/unit.ts';
import { type RowsByTable, tablesOfUnit } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open, type Place } from '../../support/warehouse/each-database.ts';

const report = (id: string, branch = 'main'): Values => [
  id,
  '2026-02-01T00:00:00.000Z',
  'repo',
  null,
  branch,
  0,
  1,
  'm',
  'low',
  '1.0',
  null,
];
const criterion = (id: string, name: string, numerator: number | null): Values => [
  id,
  name,
  numerator,
  1,
  'because',
  null,
];

function rowsOf(...ids: string[]): RowsByTable {
  return {
    readiness_reports: ids.map((id) => report(id)),
    readiness_report_apps: ids.map((id): Values => [id, '.', 'the app', null]),
    readiness_report_criteria: ids.flatMap((id) => [
      criterion(id, 'readme', 1),
      criterion(id, 'formatter', null),
    ]),
  };
}

function pageOf(
  rows: RowsByTable,
  spec: Partial<ReadinessPageCommit> & { at?: string } = {},
): ReadinessPageCommit {
  const orgId = spec.orgId ?? 'org_1';
  const pulledAt = new Date(spec.at ?? '2026-02-02T03:00:00.000Z');
  const { at: _, ...rest } = spec;
  return {
    cursor: '{"at":1}',
    quarantined: [],
    drift: [],
    requests: 1,
    runId: 'run-1',
    ...rest,
    orgId,
    tables: tablesOfUnit('readiness', [orgId], rows),
    pulledAt,
  };
}

function end(
  warehouse: Warehouse,
  seen: readonly string[] | null,
  options: { quarantine?: readonly string[]; orgId?: string } = {},
) {
  return endReadinessWalk(warehouse, {
    orgId: options.orgId ?? 'org_1',
    cursor: '{"done":true}',
    seenReportIds: seen === null ? null : new Set(seen),
    seenQuarantine: seen === null ? null : new Set(options.quarantine ?? []),
    requests: 1,
    pulledAt: new Date('2026-02-02T04:00:00.000Z'),
    runId: 'run-1',
  });
}

function record(text: string): QuarantinedRecord {
  return {
    reason: 'is wrong',
    path: 'reports[0]',
    record: JSON.stringify(text),
    recordSha256: `sha-${text}`,
  };
}

const idsIn = async (place: Place) =>
  (await place.query('SELECT report_id FROM readiness_reports ORDER BY report_id')).map(
    (row) => row['report_id'],
  );
const countIn = async (place: Place, table: string) =>
  (await place.query(`SELECT COUNT(*) AS n FROM ${table}`))[0]?.['n'];

onEachDatabase((database) => {
  describe('a page of readiness reports', () => {
    it('is stored with the cursor of the walk', async () => {
      const warehouse = await open(database);
      expect(await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b')))).toMatchObject({
        rowsWritten: 8,
        restated: false,
      });
      expect(await idsIn(warehouse.place)).toEqual(['a', 'b']);
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({
        stream: 'readiness',
        cursor: '{"at":1}',
        requests: 1,
        firstLoadedAt: '2026-02-02T03:00:00.000Z',
      });
    });

    it('that is already stored writes no row', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b')));
      expect(await commitReadinessPage(warehouse, pageOf(rowsOf('b', 'a')))).toMatchObject({
        rowsWritten: 0,
        restated: false,
      });
    });

    it('adds new reports and does not change others', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a')));
      expect(await commitReadinessPage(warehouse, pageOf(rowsOf('b')))).toMatchObject({
        rowsWritten: 4,
        restated: false,
      });
      expect(await idsIn(warehouse.place)).toEqual(['a', 'b']);
    });

    it('with a changed report records a restatement, and leaves no ghost rows', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b')));
      const changed = {
        ...rowsOf('a'),
        readiness_report_apps: [],
        readiness_report_criteria: [criterion('a', 'readme', 0)],
      };
      expect(await commitReadinessPage(warehouse, pageOf(changed))).toMatchObject({ restated: true });
      expect(
        await warehouse.place.query(
          "SELECT criterion_id, numerator FROM readiness_report_criteria WHERE report_id = 'a'",
        ),
      ).toEqual([{ criterion_id: 'readme', numerator: 0 }]);
      expect(await countIn(warehouse.place, 'readiness_report_apps')).toBe(1);
      const [restatement] = await warehouse.place.query('SELECT * FROM restatements');
      expect(restatement).toMatchObject({ org_id: 'org_1', stream: 'readiness', date: '' });
      expect(JSON.parse(String(restatement?.['before']))).toMatchObject({ rows: 8 });
      expect(JSON.parse(String(restatement?.['after']))).toMatchObject({ rows: 6 });
    });

    it('keeps its quarantine and drift', async () => {
      const warehouse = await open(database);
      const drift = [{ path: 'reports[].x', kind: 'unknown field', sample: '1' }] as const;
      await commitReadinessPage(warehouse, pageOf(rowsOf('a'), { quarantined: [record('x')], drift }));
      await commitReadinessPage(
        warehouse,
        pageOf({}, { quarantined: [record('x'), record('y')], drift, at: '2026-02-03T00:00:00.000Z' }),
      );
      expect(
        await warehouse.place.query('SELECT record, first_seen_at FROM quarantine ORDER BY record_sha256'),
      ).toEqual([
        { record: '"x"', first_seen_at: '2026-02-02T03:00:00.000Z' },
        { record: '"y"', first_seen_at: '2026-02-03T00:00:00.000Z' },
      ]);
      expect(await warehouse.place.query('SELECT first_seen_on FROM schema_drift')).toEqual([
        { first_seen_on: '2026-02-02' },
      ]);
    });
  });

  describe('the end of a readiness walk', () => {
    it('writes the state, the number of rows and the digest', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('b')));
      await commitReadinessPage(warehouse, pageOf(rowsOf('a')));
      expect(await end(warehouse, ['a', 'b'])).toMatchObject({ rowsWritten: 0, restated: false });
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({
        state: 'loaded',
        rows: 8,
        contentSha256: contentSha256(tablesOfUnit('readiness', ['org_1'], rowsOf('a', 'b'))),
        attempts: 1,
        requests: 3,
        cursor: '{"done":true}',
        settledAt: null,
        lastError: null,
      });
    });

    it('has the digest of the stored content, also after a change and without one', async () => {
      const warehouse = await open(database);
      const digest = async () => (await readReadinessUnit(warehouse, 'org_1'))?.contentSha256;
      await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b')));
      await end(warehouse, ['a', 'b']);
      await end(warehouse, null);
      expect(await digest()).toBe(contentSha256(tablesOfUnit('readiness', ['org_1'], rowsOf('a', 'b'))));
      const changed = { ...rowsOf('a', 'b'), readiness_reports: [report('a', 'dev'), report('b')] };
      await commitReadinessPage(warehouse, pageOf(changed));
      await end(warehouse, null);
      expect(await digest()).toBe(contentSha256(tablesOfUnit('readiness', ['org_1'], changed)));
      await end(warehouse, ['b']);
      expect(await digest()).toBe(contentSha256(tablesOfUnit('readiness', ['org_1'], rowsOf('b'))));
    });

    it('deletes reports that a complete pass did not return, with all their rows', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b', 'c')));
      await end(warehouse, ['a', 'b', 'c']);
      expect(await end(warehouse, ['b'])).toMatchObject({ rowsWritten: 8, restated: true });
      expect(await idsIn(warehouse.place)).toEqual(['b']);
      expect(await countIn(warehouse.place, 'readiness_report_criteria')).toBe(2);
      expect(await countIn(warehouse.place, 'restatements')).toBe(1);
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({ rows: 4 });
    });

    it('deletes nothing after an incomplete pass', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b')));
      expect(await end(warehouse, null)).toMatchObject({ rowsWritten: 0, restated: false });
      expect(await idsIn(warehouse.place)).toEqual(['a', 'b']);
    });

    it('is empty when the service has no reports', async () => {
      const warehouse = await open(database);
      await end(warehouse, []);
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({ state: 'empty', rows: 0 });
    });

    it('reports the current place of a record that was already in quarantine', async () => {
      const warehouse = await open(database);
      const at = (path: string) => pageOf(rowsOf('a'), { quarantined: [{ ...record('x'), path }] });
      await commitReadinessPage(warehouse, at('reports[0].report["a"]'));
      await commitReadinessPage(warehouse, at('reports[1].report["b"]'));
      expect(await warehouse.place.query('SELECT path FROM quarantine')).toEqual([
        { path: 'reports[1].report["b"]' },
      ]);
    });

    it('keeps quarantined records that a complete pass returned, and drops the rest', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a'), { quarantined: [record('x'), record('y')] }));
      await end(warehouse, ['a'], { quarantine: ['sha-x', 'sha-y'] });
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({ state: 'quarantined' });
      await end(warehouse, null);
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({ state: 'quarantined' });
      await end(warehouse, ['a'], { quarantine: ['sha-y'] });
      expect(await warehouse.place.query('SELECT record FROM quarantine')).toEqual([{ record: '"y"' }]);
      await end(warehouse, ['a']);
      expect(await warehouse.place.query('SELECT record FROM quarantine')).toEqual([]);
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({ state: 'loaded' });
    });

    it('changes nothing of another organization', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a')));
      await commitReadinessPage(
        warehouse,
        pageOf(rowsOf('a'), { orgId: 'org_2', quarantined: [record('x')] }),
      );
      await end(warehouse, []);
      expect(await warehouse.place.query('SELECT org_id FROM readiness_reports')).toEqual([
        { org_id: 'org_2' },
      ]);
      expect(await countIn(warehouse.place, 'quarantine')).toBe(1);
      expect(await readReadinessUnit(warehouse, 'org_2')).toMatchObject({ cursor: '{"at":1}' });
    });
  });

  describe('a report is known', () => {
    it('when it is stored with the same content, to the last criterion', async () => {
      const warehouse = await open(database);
      await commitReadinessPage(warehouse, pageOf(rowsOf('a', 'b')));
      const known = (rows: RowsByTable, orgId = 'org_1') =>
        knownReports(warehouse, orgId, tablesOfUnit('readiness', [orgId], rows));
      expect(await known(rowsOf('a', 'b', 'c'))).toEqual(new Set(['a', 'b']));
      expect(
        await known({ ...rowsOf('a', 'b'), readiness_reports: [report('a', 'dev'), report('b')] }),
      ).toEqual(new Set(['b']));
      expect(
        await known({ ...rowsOf('a'), readiness_report_criteria: [criterion('a', 'readme', 1)] }),
      ).toEqual(new Set());
      expect(await known({ ...rowsOf('a'), readiness_report_apps: [] })).toEqual(new Set());
      expect(await known(rowsOf('a'), 'org_2')).toEqual(new Set());
    });
  });
});
