import { describe, expect, test } from 'vitest';
import {
  advance,
  describeProgress,
  renderProgress,
  startProgress,
} from '../../../../src/cli/output/progress.ts';
import { describeEvent } from '../../../../src/cli/output/reporting.ts';
import { createStyle } from '../../../../src/cli/output/terminal.ts';
import type { CopyEvent } from '../../../../src/copy/events.ts';
import { parseDay } from '../../../../src/core/day.ts';

const copied: CopyEvent = {
  type: 'copied',
  what: 'users',
  firstDay: parseDay('2026-02-01'),
  lastDay: parseDay('2026-02-04'),
  units: 4,
  rowsWritten: 1_200,
};

describe('the progress of a copy', () => {
  test('shows the current step, how many units are done, and what is compared', () => {
    const frame = { atMs: 10_000, width: 120, style: createStyle(false) };
    let state = advance(startProgress(0), { type: 'copy-started', from: 'a.db', to: 'b.db' }, 0);
    expect(renderProgress(state, frame)).toBe('comparing the two warehouses …');
    state = advance(state, { type: 'copy-planned', units: 8, unchanged: 2 }, 0);
    state = advance(state, copied, 5_000);
    expect(describeProgress(state, 10_000)).toBe('4/8 units, 10 s left, 1,200 rows, users 2026-02-04');
    state = advance(state, { type: 'copy-comparing', table: 'user_daily' }, 9_000);
    expect(renderProgress(state, frame)).toContain('comparing user_daily');
    expect(renderProgress(state, frame)).not.toContain('requests');
  });

  test('is in the log, with a warning about lost rows', () => {
    expect(describeEvent(copied)).toMatchObject({
      event: 'copied',
      message: 'users 2026-02-01 to 2026-02-04: 1,200 rows written',
      routine: true,
    });
    expect(describeEvent({ type: 'copy-replaces', to: 'b.db', lost: 'all of org_2' })).toMatchObject({
      level: 'warn',
      message: 'b.db loses data that only it holds: all of org_2',
    });
  });
});
