import { expect, it } from 'vitest';
import { tables } from '../../../schema/tables.ts';
import { daysFrom, parseDay } from '../../../src/core/day.ts';
import { cellOf, isDotted, sumOf } from '../../../src/look/numbers.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { fillTwoMonths } from '../../support/look/two-months.ts';
import { Collector } from '../../support/metrics/collector.ts';
import { onEachDatabase, open } from '../../support/warehouse/each-database.ts';

const OPEN = ['2026-03-18', '2026-03-19'];
const PERIOD = { from: parseDay('2026-03-01'), until: parseDay('2026-03-19') };

onEachDatabase((database) => {
  it.each([
    [7, false],
    [12, true],
  ])('a number of which %d %% may still change is dotted: %s', async (percent, dotted) => {
    const warehouse = await open(database);
    await fillTwoMonths(warehouse, { unsettled: OPEN });
    const settled = 17 * 100;
    const each = (settled * percent) / (100 - percent) / OPEN.length;
    const rows = new Collector('org_1');
    for (const date of daysFrom(PERIOD.from, PERIOD.until)) {
      rows.add(tables.tokensDaily, { date, billable_tokens: OPEN.includes(date) ? each : 100 });
    }
    await changeRows(warehouse, { put: rows.all(), remove: [] });
    await warehouse.inSnapshot(async () => {
      const reader = pageReader(warehouse, { orgId: 'org_1', ...PERIOD });
      const result = await reader.ask({ metric: 'billable_tokens', title: 'Credits' });
      const number = cellOf(result, 0, 'count');
      expect(number.open?.share).toBeCloseTo(percent / 100, 9);
      expect(isDotted(number)).toBe(dotted);
      // A sum is as open as its parts are together.
      const final = cellOf(result, 0, 'count', { open: null });
      expect(sumOf([number, final], 'count').open?.share).toBeCloseTo(percent / 200, 9);
    });
  });
});
