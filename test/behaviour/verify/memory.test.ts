// @module-tag campaign/verify

import { expect, test } from 'vitest';
import { fill } from '../../support/copy/large-warehouse.ts';
import { daywalk } from '../../support/process/daywalk-process.ts';
import { open } from '../../support/warehouse/each-database.ts';
import { sqlite } from '../../support/warehouse/sqlite-place.ts';

const isLongCampaign = process.env['DAYWALK_CHAOS'] === '1';
/** One day of 50,000 users, held as rows, would not fit. */
const HEAP_MB = 40;

test('a verification never holds a whole day of 50,000 users in memory', async ({ skip }) => {
  skip(!isLongCampaign, '`npm run test:verify` takes the time for it');
  const { place } = await open(sqlite);
  const warehouse = await open(place);
  await fill(warehouse, { days: 3, users: 50_000, reports: 500 });
  await warehouse.close();
  const { code, stdout, stderr } = await daywalk(['verify', '--warehouse', place.location, '--json'], {
    nodeArgs: [`--max-old-space-size=${HEAP_MB}`],
  });
  expect(stderr).not.toContain('heap out of memory');
  expect(JSON.parse(stdout)).toMatchObject({ rows: 3 * 150_000 + 500 * 62, damages: [] });
  expect(code).toBe(0);
});
