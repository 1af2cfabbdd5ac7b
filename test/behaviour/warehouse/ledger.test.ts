import { describe, expect, it } from 'vitest';
import { EXIT } from '../../../src/core/exit-code.ts';
import type { Stream } from '../../../src/core/stream.ts';
import { failUnit, readReadinessUnit, readUnits } from '../../../src/ledger/ledger.ts';
import { commitReadinessPage } from '../../../src/ledger/readiness.ts';
import type { UnitFailure } from '../../../src/ledger/transitions.ts';
import { endRun, readRuns, startRun } from '../../../src/records/runs.ts';
import { dayKey, readinessKey } from '../../../src/units/unit.ts';
import { commitDay, commitOf, ruleOf } from '../../support/warehouse/commit-of.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const ROWS = { tokens_daily: [[1, 2, 3, 4, 5, null]] };

function failureOf(spec: Partial<UnitFailure> = {}): UnitFailure {
  const pulledAt = new Date('2026-02-05T03:00:00.000Z');
  const rule = ruleOf(false, pulledAt);
  const failure = { state: 'failed', error: 'answered 500', requests: 6, pulledAt, rule } as const;
  return { unit: dayKey('org_1', commitOf()), ...failure, ...spec };
}

onEachDatabase((database) => {
  describe('a pull that failed', () => {
    it('keeps the stored rows, and is pulled again', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS, settled: true }));
      await failUnit(warehouse, failureOf());
      expect(await warehouse.place.query('SELECT COUNT(*) AS n FROM tokens_daily')).toEqual([{ n: 1 }]);
      const [unit] = await readUnits(warehouse, 'org_1');
      expect(unit).toMatchObject({
        state: 'failed',
        rows: 1,
        contentSha256: commitOf({ rows: ROWS }).contentSha256,
        attempts: 2,
        requests: 7,
        firstLoadedAt: '2026-02-02T03:00:00.000Z',
        lastPulledAt: '2026-02-05T03:00:00.000Z',
        changedAt: '2026-02-02T03:00:00.000Z',
        settledAt: null,
        lastError: 'answered 500',
      });
    });

    it('of a unit that was never pulled stores no rows', async () => {
      const warehouse = await open(database);
      await failUnit(warehouse, failureOf({ state: 'awaiting' }));
      expect(await readUnits(warehouse, 'org_1')).toMatchObject([
        { state: 'awaiting', rows: 0, contentSha256: null, attempts: 1, firstLoadedAt: null },
      ]);
    });

    it('keeps the cursor of a readiness walk', async () => {
      const warehouse = await open(database);
      const pulledAt = new Date('2026-02-05T03:00:00.000Z');
      await commitReadinessPage(warehouse, {
        orgId: 'org_1',
        tables: [],
        cursor: '{"at":7}',
        quarantined: [],
        drift: [],
        requests: 2,
        pulledAt,
        runId: 'run-1',
      });
      await failUnit(warehouse, failureOf({ unit: readinessKey('org_1') }));
      expect(await readReadinessUnit(warehouse, 'org_1')).toMatchObject({
        state: 'failed',
        cursor: '{"at":7}',
        requests: 8,
      });
    });
  });

  describe('the units of the ledger', () => {
    it('are those of the organization and the named streams', async () => {
      const warehouse = await open(database);
      await commitDay(warehouse, commitOf({ rows: ROWS }));
      await commitDay(warehouse, commitOf({ stream: 'users' }));
      await commitDay(warehouse, commitOf({ orgId: 'org_2' }));
      const names = async (orgId: string, streams?: readonly Stream[]) =>
        (await readUnits(warehouse, orgId, streams))
          .map(({ orgId, stream }) => `${orgId} ${stream}`)
          .toSorted();
      expect(await names('org_1')).toEqual(['org_1 tokens', 'org_1 users']);
      expect(await names('org_1', ['users', 'tools'])).toEqual(['org_1 users']);
      expect(await names('org_1', [])).toEqual([]);
      expect(await names('org_3')).toEqual([]);
      expect(await readReadinessUnit(warehouse, 'org_1')).toBeNull();
    });
  });

  describe('a run', () => {
    const start = (runId: string, at: string) => ({
      runId,
      command: 'run',
      startedAt: new Date(at),
      versions: { daywalk: '0.1.0' },
    });

    it('is recorded from its start, and then how it ended', async () => {
      const warehouse = await open(database);
      await startRun(warehouse, start('r-1', '2026-02-02T03:00:00.000Z'));
      const running = {
        runId: 'r-1',
        orgId: null,
        command: 'run',
        startedAt: '2026-02-02T03:00:00.000Z',
        endedAt: null,
        exitCode: null,
        unitsDone: 0,
        unitsFailed: 0,
        rowsWritten: 0,
        requests: 0,
        retries: 0,
      };
      expect(await readRuns(warehouse, 10)).toEqual([running]);
      const ended = {
        orgId: 'org_1',
        exitCode: EXIT.upstream,
        unitsDone: 5,
        unitsFailed: 1,
        rowsWritten: 50,
        requests: 9,
        retries: 2,
      };
      const results = { responses: { 503: 1, 200: 8 }, completed: ['tokens', 'users'] as const };
      await endRun(warehouse, {
        runId: 'r-1',
        ...ended,
        ...results,
        endedAt: new Date('2026-02-02T03:05:00.000Z'),
      });
      expect(await readRuns(warehouse, 10)).toEqual([
        { ...running, ...ended, endedAt: '2026-02-02T03:05:00.000Z' },
      ]);
      expect(await warehouse.place.query('SELECT versions, responses, completed FROM export_runs')).toEqual([
        {
          versions: '{"daywalk":"0.1.0"}',
          responses: '{"200":8,"503":1}',
          completed: '["tokens","users"]',
        },
      ]);
    });

    it('is listed newest first, up to the requested number', async () => {
      const warehouse = await open(database);
      for (let n = 1; n <= 5; n += 1)
        await startRun(warehouse, start(`r-${n}`, `2026-02-0${n}T03:00:00.000Z`));
      expect((await readRuns(warehouse, 3)).map(({ runId }) => runId)).toEqual(['r-5', 'r-4', 'r-3']);
      expect(await readRuns(warehouse, 0)).toEqual([]);
      // What a clock that was ahead recorded is not the last run.
      const started = (await readRuns(warehouse, 9)).map(({ startedAt }) => startedAt).toSorted();
      const now = new Date(started[1] ?? '');
      expect((await readRuns(warehouse, 3, { now })).map(({ startedAt }) => startedAt)).toEqual([
        ...[started[1], started[0], started.at(-1)],
      ]);
    });
  });
});
