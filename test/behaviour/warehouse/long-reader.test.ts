// @module-tag database-specific

import { statSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { expect, test } from 'vitest';
import type { Values } from '../../../schema/row.ts';
import type { Reason } from '../../../src/core/errors.ts';
import { openWarehouse } from '../../../src/warehouse/open.ts';
import { FakeClock } from '../../support/clock/fake-clock.ts';
import { createRig } from '../../support/rig/rig.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';
import { commitDay, commitOf } from '../../support/warehouse/commit-of.ts';

const KB = 1024;
/** About 100 KB. */
const rowsOf = (number: number): Values[] =>
  Array.from({ length: 100 }, (_, index) => [`tool ${number} ${index} ${'x'.repeat(900)}`, number, 0, null]);

async function openSmall(path: string) {
  const warnings: { message: string; hint: string; reason?: Reason | undefined }[] = [];
  const warehouse = await openWarehouse(path, {
    clock: new FakeClock({ auto: true }),
    create: true,
    logBytesMax: 200 * KB,
    warn: (message, hint, reason) => warnings.push({ message, hint, reason }),
  });
  const commit = (number: number) =>
    commitDay(warehouse, commitOf({ stream: 'tools', rows: { tools_daily_by_tool: rowsOf(number) } }));
  return { warehouse, warnings, commit, logBytes: () => statSync(`${path}-wal`).size };
}

test('K3: writes continue during a long read transaction, and the growing log is reported', {
  tags: 'ci/rare',
}, async () => {
  const path = tempFile();
  const { warehouse, warnings, commit, logBytes } = await openSmall(path);
  await commit(0);
  const reader = new Sqlite(path, { readonly: true });
  const count = () => reader.prepare('SELECT SUM(invocations) FROM tools_daily_by_tool').pluck().get();
  reader.exec('BEGIN');
  expect(count()).toBe(0);
  for (let number = 1; number <= 20; number += 1) await commit(number);
  // The reader sees what it saw; the log could not be emptied, and it was said twice or so, not twenty times.
  expect(count()).toBe(0);
  expect(logBytes()).toBeGreaterThan(1_000 * KB);
  expect(warnings.length).toBeGreaterThan(1);
  expect(warnings.length).toBeLessThan(6);
  expect(warnings[0]).toMatchObject({
    message: expect.stringMatching(
      /write-ahead log of .* has grown to \d+ MB: another program keeps a long read transaction/,
    ),
    hint: expect.stringContaining('daywalk publish'),
    reason: 'log-cannot-shrink',
  });
  reader.exec('COMMIT');
  expect(count()).toBe(20 * 100);
  reader.close();
  const warningsBefore = warnings.length;
  // Without the reader, SQLite reuses the log from its beginning, and the log stays within its limit.
  for (let number = 21; number <= 24; number += 1) await commit(number);
  expect(warnings).toHaveLength(warningsBefore);
  await warehouse.close();
});

test('K3: without a reader the log stays within its bound, and nothing is reported', async () => {
  const { warehouse, warnings, commit, logBytes } = await openSmall(tempFile());
  for (let number = 0; number < 20; number += 1) {
    await commit(number);
    expect(logBytes()).toBeLessThanOrEqual(200 * KB);
  }
  expect(warnings).toEqual([]);
  await warehouse.close();
});

test('K3: a run beside a long reader ends with exit code 0 and the same digest', {
  tags: 'ci/rare',
}, async () => {
  const alone = await createRig({ users: 10, reports: 2 });
  await alone.run();
  const rig = await createRig({ users: 10, reports: 2 });
  await rig.run({ until: undefined, streams: ['tokens'] });
  const reader = new Sqlite(rig.path, { readonly: true });
  reader.exec('BEGIN');
  const before = reader.prepare('SELECT COUNT(*) FROM user_daily').pluck().get();
  expect((await rig.run()).report.exitCode).toBe(0);
  expect(reader.prepare('SELECT COUNT(*) FROM user_daily').pluck().get()).toBe(before);
  reader.exec('COMMIT');
  reader.close();
  expect(await rig.digest()).toBe(await alone.digest());
});
