import { expect, test } from 'vitest';
import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { output } from '../../../src/look/pages/output.ts';
import { tools } from '../../../src/look/pages/tools.ts';
import { answerMetric } from '../../../src/metrics/answer-metric.ts';
import { figureOf, reading } from '../../support/look/read-pages.ts';
import { exportedRig } from '../../support/rig/exported-rig.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

onEachDatabase((database) => {
  test('the page of tools adds hooks up to the metric', async () => {
    const rig = await exportedRig({ users: 12, reports: 0, today: '2026-01-24' }, { database });
    const warehouse = await open(rig.place);
    const [orgId = ''] = await readOrganizationIds(warehouse);
    const period = { from: FIRST_DAY, until: parseDay('2026-01-23') };
    const metric = await answerMetric(warehouse, { metric: 'hook_invocations', orgId, by: [], ...period });
    const page = await reading(warehouse, (reader) => tools.build(reader, {}));
    const numbers = figureOf(page, 'hooks').table.rows.flatMap((row) =>
      row.flatMap((cell) => (cell.kind === 'number' && cell.format === 'count' ? (cell.value ?? []) : [])),
    );
    expect(numbers.reduce((sum, value) => sum + value, 0)).toBe(metric.rows[0]?.value);
  });

  test('the page of output has the files by language that the service publishes', async () => {
    const rig = await exportedRig({ users: 12, reports: 0, today: '2026-01-24' }, { database });
    const page = await reading(await open(rig.place), (reader) => output.build(reader, {}));
    const published = await rig.value<number>('SELECT SUM(count) FROM productivity_daily_by_language');
    const numbers = figureOf(page, 'files-by-language').table.rows.map(([, number]) =>
      number?.kind === 'number' ? (number.value ?? 0) : 0,
    );
    expect(numbers.reduce((sum, value) => sum + value, 0)).toBe(Number(published));
  });
});
