import { tables } from '../../../schema/tables.ts';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import { type DayBatch, rangeOf } from '../plan.ts';
import { type PullCall, pullBatch } from '../pull.ts';
import { daysWithOtherRows, type PagesOptions, readPage, usersOf } from './watch-pages.ts';

/**
 * Compares all pages of users of some stretches, where one run cannot hold the users of many days in memory: a page has few users, and
 * all days that a request may cover. So 31 days of an organization of 50,000 users cost 500 requests instead of 15,500. Days on which a page
 * differs, or which lack a stored user, are compared in all streams. After a failure, the next run compares these days again.
 * @param daysMax maximum number of days per request.
 */
export async function walkUsers(options: PagesOptions, daysMax: number): Promise<void> {
  const { watch, outcomes, signal } = options;
  try {
    for (const days of watch.walked) {
      for (const batch of walkedRanges(days, daysMax)) {
        if (signal.aborted) return;
        const differing = await differingDays(options, batch, new Set(days));
        watch.suspect(days.filter((day) => differing.has(day)));
      }
    }
  } catch (error) {
    watch.recordFailure(watch.walked.flat().map((day) => ({ stream: 'users', day })));
    outcomes.recordFailedLook('users', error);
  }
}

/** The ranges that cover some days, and those between them: several walks would cost more. */
export function walkedRanges(days: readonly UtcDay[], daysMax: number): DayBatch[] {
  const sorted = days.toSorted();
  const last = sorted.at(-1);
  const ranges: DayBatch[] = [];
  for (let first = sorted[0]; first !== undefined && last !== undefined && first <= last; ) {
    const end = shiftDay(first, daysMax - 1);
    ranges.push(rangeOf('users', first, end < last ? end : last));
    first = sorted.find((day) => day > end);
  }
  return ranges;
}

async function differingDays(
  options: PagesOptions,
  batch: DayBatch,
  asked: ReadonlySet<UtcDay>,
): Promise<Set<string>> {
  const { source, signal } = options;
  const call: PullCall = { signal, meter: { requests: 0, retries: 0 } };
  const seen = new SeenUsers(batch.days);
  const differing = new Set<string>();
  for await (const page of pullBatch(source, batch, call)) {
    const { days, isWhole } = readPage(options, batch, page);
    for (const { day } of days) seen.add(day.unit.day, usersOf(day));
    const users = [...new Set(days.flatMap(({ day }) => usersOf(day)))];
    for (const day of await daysWithOtherRows(options, days, users)) differing.add(day);
    // What the page says of the other days is not known.
    if (!isWhole) for (const day of withoutDays(batch.days, days)) differing.add(day);
  }
  for (const day of batch.days) {
    if (asked.has(day) && !differing.has(day) && (await lacksUser(options, day, seen))) differing.add(day);
  }
  return differing;
}

function withoutDays(all: readonly UtcDay[], days: ReturnType<typeof readPage>['days']): UtcDay[] {
  const read = new Set(days.map(({ day }) => day.unit.day));
  return all.filter((day) => !read.has(day));
}

/** True if a user is stored on a day whom no page has named there. */
async function lacksUser({ warehouse, orgId }: PagesOptions, day: UtcDay, seen: SeenUsers): Promise<boolean> {
  const scope = { orgId, firstDay: day, lastDay: day };
  const rows = await warehouse.rowsOf(tables.userDaily, scope, ['user_id']);
  return rows.some(([userId]) => !seen.has(day, String(userId)));
}

/** Who was seen on which days: a bit for each, because 50,000 users are active on 31 days, or on more. */
class SeenUsers {
  readonly #bits: ReadonlyMap<UtcDay, bigint>;
  readonly #users = new Map<string, bigint>();

  constructor(days: readonly UtcDay[]) {
    this.#bits = new Map(days.map((day, index) => [day, 1n << BigInt(index)]));
  }

  add(day: UtcDay, users: readonly string[]): void {
    const bit = this.#bits.get(day) ?? 0n;
    for (const user of users) this.#users.set(user, (this.#users.get(user) ?? 0n) | bit);
  }

  has(day: UtcDay, user: string): boolean {
    return ((this.#users.get(user) ?? 0n) & (this.#bits.get(day) ?? 0n)) !== 0n;
  }
}
