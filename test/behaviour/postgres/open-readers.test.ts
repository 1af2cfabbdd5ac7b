// @module-tag database-specific

import pg from 'pg';
import { expect, it, onTestFinished } from 'vitest';
import { allTables } from '../../../schema/tables.ts';
import { parseDay } from '../../../src/core/day.ts';
import { createRig } from '../../support/rig/rig.ts';
import { needsSessions, onDatabase } from '../../support/warehouse/each-database.ts';
import { postgres } from '../../support/warehouse/postgres-place.ts';

onDatabase(postgres, () => {
  it('a first sync with statistics, a night and a forced backfill need no lock that waits for readers', {
    tags: 'ci/rare',
  }, async () => {
    needsSessions(postgres);
    const rig = await createRig({ users: 90, steady: true, reports: 3 }, { database: postgres });
    const reader = new pg.Client({ connectionString: rig.path });
    await reader.connect();
    onTestFinished(() => reader.end());
    const schema = new URL(rig.path).searchParams.get('schema') ?? 'public';
    const tables = allTables.map(({ name }) => pg.escapeIdentifier(name)).join(', ');
    // The lock of every SELECT, held by a dashboard that forgot to end its transaction.
    await reader.query(
      `SET search_path = ${pg.escapeIdentifier(schema)}; BEGIN; LOCK TABLE ${tables} IN ACCESS SHARE MODE`,
    );
    const first = await rig.run({ until: parseDay('2026-02-08') });
    expect(first.report).toMatchObject({ exitCode: 0 });
    expect(first.report.rowsWritten).toBeGreaterThan(10_000);
    expect((await rig.run()).report).toMatchObject({ exitCode: 0 });
    expect((await rig.run({ force: true })).report).toMatchObject({ exitCode: 0 });
  });
});
