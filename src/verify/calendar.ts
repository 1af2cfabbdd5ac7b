import { daysFrom, shiftDay, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS } from '../core/stream.ts';
import { isDayUnit, type LedgerUnit } from '../warehouse/port.ts';
import type { FindingList } from './finding.ts';

/**
 * Checks that the ledger has every stream of an organization for every day, in any state, from the first to the last day of
 * any stream. A stream without any unit is not checked. Consecutive missing days are one finding.
 */
export function checkCalendar(orgId: string, units: readonly LedgerUnit[], findings: FindingList): void {
  const daily = units.filter(isDayUnit);
  const sorted = daily.map(({ day }) => day).toSorted();
  const [first] = sorted;
  const last = sorted.at(-1);
  if (first === undefined || last === undefined) return;
  const calendar = daysFrom(first, last);
  for (const stream of DAILY_STREAMS) {
    const held = new Set<UtcDay>(daily.filter((unit) => unit.stream === stream).map(({ day }) => day));
    if (held.size === 0) continue;
    for (const { from, days } of holesIn(calendar, held)) {
      const until = shiftDay(from, days - 1);
      const what = days === 1 ? 'a day that was never pulled' : `days that were never pulled, until ${until}`;
      findings.add({ severity: 'hole', orgId, stream, day: from, what, expected: days, found: 0 });
    }
  }
}

function holesIn(calendar: readonly UtcDay[], held: ReadonlySet<UtcDay>): { from: UtcDay; days: number }[] {
  const holes: { from: UtcDay; days: number }[] = [];
  let open: { from: UtcDay; days: number } | undefined;
  for (const day of calendar) {
    if (held.has(day)) {
      open = undefined;
    } else if (open === undefined) {
      open = { from: day, days: 1 };
      holes.push(open);
    } else {
      open.days += 1;
    }
  }
  return holes;
}
