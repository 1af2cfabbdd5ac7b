import {
  dayOf,
  daysBetween,
  monthEndOf,
  monthOf,
  parseDay,
  shiftDay,
  type UtcDay,
  weekdayOf,
  yesterdayOf,
} from '../core/day.ts';
import { type Expectation, readExpectation } from '../expected/index.ts';
import type { Period } from '../metrics/index.ts';
import type { Warehouse } from '../port/index.ts';
import type { LedgerUnit } from '../units/index.ts';
import type { Banner, Phrase } from './page.ts';
import type { Today } from './reader.ts';
import { dayName, daysWords, instantSentence } from './words.ts';

/** Reads what is expected now. Call in a snapshot. */
export async function readToday(
  warehouse: Warehouse,
  orgId: string,
  { units, now }: { readonly units: readonly LedgerUnit[]; readonly now: Date },
): Promise<Today> {
  return { now, expectation: await readExpectation(warehouse, orgId, { units, now }) };
}

/** The same without a clock: at the instant of the last pull, so that the same warehouse gives the same pages. */
export function readTodayOfReport(
  warehouse: Warehouse,
  orgId: string,
  units: readonly LedgerUnit[],
): Promise<Today> {
  const last = units
    .flatMap(({ lastPulledAt }) => lastPulledAt ?? [])
    .toSorted()
    .at(-1);
  const now = new Date(last ?? 0);
  return readToday(warehouse, orgId, { units, now });
}

/** True if the month in which a period ends is over, or neither lateness nor a missing day of the current month forbids a forecast. */
export function hasForecast({ until, today }: { until: UtcDay; today?: Today | undefined }): boolean {
  if (today === undefined) return true;
  const { now, expectation } = today;
  const { wholeDay, isLate, overdue } = expectation;
  const month = monthOf(yesterdayOf(now));
  // What is late or missing after a month changes nothing in it.
  if (wholeDay !== null && wholeDay >= monthEndOf(until)) return true;
  return !isLate && overdue.every(({ day }) => monthOf(day) !== month);
}

/** The missing days of a page: those of its period, and those after the newest whole day if the page is stale. */
export function missingDays({ until, from }: Period, { now, expectation }: Today): UtcDay[] {
  const last = expectation.isLate ? yesterdayOf(now) : until;
  const days = expectation.overdue.map(({ day }) => day).filter((day) => day >= from && day <= last);
  return [...new Set(days)].toSorted();
}

/** How many days after its period a stale page still draws as missing. */
const DRAWN_AFTER_MAX = 92;

/** The last day of drawings: of a stale page that ends with the newest day, the last expected one. */
export function lastDrawn({ until }: Period, today: Today | undefined): UtcDay {
  if (today === undefined || !today.expectation.isLate) return until;
  const { now, expectation } = today;
  const yesterday = yesterdayOf(now);
  const isNewest = until >= (expectation.wholeDay ?? until) && until < yesterday;
  if (!isNewest) return until;
  const most = shiftDay(until, DRAWN_AFTER_MAX);
  return yesterday < most ? yesterday : most;
}

/** What comes before everything else on a page that ends too early, or lacks days; undefined if it does not. */
export function bannerOf(period: Period, today: Today): Banner | undefined {
  const { now, expectation } = today;
  const missing = missingDays(period, today);
  if (!expectation.isLate && missing.length === 0) return undefined;
  const { lastComplete, contract, wholeDay } = expectation;
  const run =
    lastComplete === null
      ? 'No run has been complete yet'
      : `The last complete run was on ${instantSentence(lastComplete.endedAt)}`;
  const hours = Math.round(contract.maxAgeSeconds / 3_600);
  const due = `${run}; one is expected at least every ${hours} hours.`;
  const where =
    missing.length === 0
      ? ''
      : ` ${missing.length === 1 ? 'It is' : 'They are'} missing in ${streamsOf(missing, expectation)}.`;
  const forecast = hasForecast({ ...period, today }) ? '' : ' There is no forecast.';
  return {
    title: expectation.isLate ? staleTitle(missing, wholeDay, now) : missingTitle(missing),
    text: `${due}${where}${forecast} Whoever runs the job: \`daywalk run\`, then \`daywalk status\`.`,
  };
}

function staleTitle(missing: readonly UtcDay[], wholeDay: UtcDay | null, now: Date): string {
  if (wholeDay === null) return 'No day is stored in all streams yet.';
  const after = daysBetween(wholeDay, yesterdayOf(now));
  const end = `These numbers end on ${weekdayDay(wholeDay, yesterdayOf(now))}.`;
  const earlier = missing.filter((day) => day < wholeDay).length;
  const since =
    after === 0
      ? ''
      : after === 1
        ? ' The day since then is missing.'
        : ` The ${after} days since then are missing.`;
  const also = after > 0 ? ', too' : earlier === 1 ? ' is missing' : ' are missing';
  return `${end}${since}${earlier === 0 ? '' : ` ${countOfDays(earlier)} before it${also}.`}`;
}

function missingTitle(missing: readonly UtcDay[]): string {
  return `${countOfDays(missing.length)} ${missing.length === 1 ? 'is' : 'are'} missing: ${daysWords(missing)}.`;
}

function countOfDays(days: number): string {
  return days === 1 ? 'One day' : `${days} days`;
}

function streamsOf(days: readonly UtcDay[], { overdue, daily }: Expectation): string {
  const lacking = daily.filter((stream) =>
    overdue.some((own) => own.stream === stream && days.includes(own.day)),
  );
  return lacking.length === daily.length ? 'all streams' : lacking.join(', ');
}

/** Beside the title: the newest whole day, and the last complete run. */
export function trustOf({ now, expectation }: Today): Phrase {
  const { wholeDay, lastComplete } = expectation;
  if (wholeDay === null) return ['No day is stored in all streams'];
  const run =
    lastComplete === null
      ? 'no complete run'
      : `last complete run ${agoOf(lastComplete.endedAt, dayOf(now))}`;
  const name = weekdayDay(wholeDay, yesterdayOf(now));
  const day = wholeDay === yesterdayOf(now) ? `yesterday, ${name}` : name;
  return ['Data to ', { kind: 'strong', parts: [day] }, ` · ${run}`];
}

function agoOf(instant: string, today: UtcDay): string {
  const day = parseDay(instant.slice(0, 10));
  const days = daysBetween(day, today);
  if (days <= 0) return `today ${instant.slice(11, 16)} UTC`;
  return days === 1 ? `yesterday ${instant.slice(11, 16)} UTC` : `${days} days ago`;
}

const WEEKDAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];

function weekdayDay(day: UtcDay, near: UtcDay): string {
  return `${WEEKDAYS[weekdayOf(day) - 1]} ${dayName(day, near)}`;
}
