import { dayOf, type UtcDay } from '../core/day.ts';
import { ACCEPT_AFTER_MS, ACCEPT_LOOKS, type StandingDoubt, seenAlso, type WeighRule } from './doubt.ts';
import { SECOND_LOOK_AFTER_MS } from './watch.ts';

/** What a full pass over the readiness reports did not find. */
export interface ReportLoss {
  /** IDs of the stored reports that the pass did not return. */
  readonly missing: readonly string[];
  /** How many reports were stored when the walk began. */
  readonly stored: number;
  /** How many of the missing reports the same walk stored before it missed them. @default 0 */
  readonly fresh?: number;
}

/** The decision about missing reports. */
export interface WeighedReports {
  /** IDs of the reports that are gone. */
  readonly gone: readonly string[];
  /** The missing reports that stay for now; null if there are none. */
  readonly doubt: StandingDoubt | null;
}

/**
 * Decides which missing reports are gone. Each needs a second full pass that misses it, on another UTC day and at least
 * {@link SECOND_LOOK_AFTER_MS} after the first one. While more than half of the reports are missing, each needs passes
 * on {@link ACCEPT_LOOKS} UTC days and {@link ACCEPT_AFTER_MS}. A report that comes back starts again if it is missed
 * later. Several passes on one UTC day count once.
 * @param standing the reports that earlier passes missed.
 */
export function weighReports(
  standing: StandingDoubt | null,
  { missing, stored, fresh = 0 }: ReportLoss,
  { now, acceptsLoss }: WeighRule,
): WeighedReports {
  const known = new Map(
    standing === null ? [] : missingReports(standing).map(({ reportId, since }) => [reportId, since]),
  );
  const accepted = missing.filter((id) => acceptsLoss && known.has(id));
  const rest = missing.filter((id) => !acceptsLoss || !known.has(id));
  // New reports must not hide a loss, so the number counts that was stored when it was first doubted.
  const isDoubted = standing !== null && isMostMissing(standing) && missing.some((id) => known.has(id));
  const before = (isDoubted ? standing.of : stored) + fresh;
  const of = before - accepted.length;
  const isMost = rest.length - fresh > (of - fresh) / 2;
  const first = new Map(rest.map((id) => [id, firstMissedAt(known.get(id), now)]));
  const seenOn = seenAlso(standing ?? { seenOn: [] }, dayOf(now));
  const isGone = (id: string) => isEnough({ since: first.get(id) ?? '', seenOn, isMost }, now);
  const left = rest.filter((id) => !isGone(id));
  const gone = [...accepted, ...rest.filter(isGone)];
  if (left.length === 0) return { gone, doubt: null };
  const since = left.map((id) => first.get(id) ?? '').reduce((a, b) => (a < b ? a : b));
  const later = left.flatMap((id) =>
    first.get(id) === since ? [] : [[id, first.get(id) ?? since] as const],
  );
  const doubt: StandingDoubt = {
    rule: isMost ? (rest.length >= of ? 'loss-of-all' : 'loss-of-most') : 'loss-of-reports',
    rows: left.length,
    of: before - gone.length,
    seenOn: seenOn.filter((day) => day >= since.slice(0, day.length)),
    missing: left,
    since,
    ...(later.length > 0 && { later: Object.fromEntries(later) }),
  };
  return { gone, doubt };
}

/** True if so many reports are missing that the service is not believed: the unit is doubted. */
export function isMostMissing({ rule }: Pick<StandingDoubt, 'rule'>): boolean {
  return rule !== 'loss-of-reports';
}

/** The IDs of the missing reports and since when each has been missing, as ISO instants; in the order of the IDs. */
export function missingReports(
  doubt: StandingDoubt,
): { readonly reportId: string; readonly since: string }[] {
  const ids = typeof doubt.missing === 'string' ? [] : doubt.missing;
  return ids.toSorted().map((reportId) => ({ reportId, since: doubt.later?.[reportId] ?? doubt.since }));
}

/** A sighting from the future, noted while a clock was ahead, would last until that time, so it begins now. */
function firstMissedAt(known: string | undefined, now: Date): string {
  return known === undefined || Date.parse(known) > now.getTime() ? now.toISOString() : known;
}

function isEnough(
  {
    since,
    seenOn,
    isMost,
  }: { readonly since: string; readonly seenOn: readonly UtcDay[]; readonly isMost: boolean },
  now: Date,
): boolean {
  const days = seenOn.filter((day) => day >= since.slice(0, day.length)).length;
  const ms = now.getTime() - Date.parse(since);
  return isMost ? days >= ACCEPT_LOOKS && ms >= ACCEPT_AFTER_MS : days >= 2 && ms >= SECOND_LOOK_AFTER_MS;
}
