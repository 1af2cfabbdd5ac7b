import type { Value } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import { daysFrom, FIRST_DAY, shiftDay, type UtcDay, yesterdayOf } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream, STREAMS, type Stream } from '../../../src/core/stream.ts';
import { changeRows } from '../../../src/port/steps.ts';
import { Collector } from '../metrics/collector.ts';
import { pick, type Random } from '../random/seed.ts';
import type { Held } from '../warehouse/each-database.ts';

const HOUR_MS = 3_600_000;

/** A row of `export_units`, as far as it decides what is missing. */
interface Unit {
  readonly stream: DailyStream;
  readonly day: UtcDay;
  readonly state: string;
  readonly rows: number;
  readonly firstLoadedAt: string | null;
  readonly watch: string | null;
}

interface Run {
  readonly command: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly exitCode: number | null;
  /** Null for a run of a version that did not record it. */
  readonly completed: readonly Stream[] | null;
}

/** What the warehouse holds of an organization. */
export interface RandomState {
  readonly orgId: string;
  readonly name: string;
  /** The row of `contracts`, which may be damaged; null before the first run of this version. */
  readonly contract: Readonly<
    Record<'first_day' | 'streams' | 'max_age_seconds' | 'changed_at', Value>
  > | null;
  readonly units: readonly Unit[];
  readonly runs: readonly Run[];
}

/** What follows from a state at an instant, computed unit by unit and in no other way than the documentation says it. */
export interface Answer {
  readonly firstDay: UtcDay;
  readonly streams: readonly Stream[];
  readonly maxAgeSeconds: number;
  /** The first day whose people are kept; null if none has expired. */
  readonly usersFrom: UtcDay | null;
  /** Every expected unit with a day, and those that are missing, as `stream day`. */
  readonly expected: readonly string[];
  readonly missing: readonly string[];
  readonly stored: ReadonlySet<string>;
  /** Those of which nothing is known, whatever their age. */
  readonly unanswered: ReadonlySet<string>;
  /** ISO instant; null if an expected stream was never complete. */
  readonly lastCompleteAt: string | null;
  readonly isLate: boolean;
  /** Expected days up to the last complete export that nobody has pulled. */
  readonly skippedDays: number;
}

const KINDS = [
  { state: 'loaded' },
  { state: 'loaded' },
  { state: 'empty', rows: 0 },
  { state: 'awaiting', rows: 0 },
  { state: 'awaiting', rows: 0, watch: '{"settlesOn":"2026-12-31"}' },
  { state: 'doubted' },
  { state: 'quarantined' },
  { state: 'failed' },
  { state: 'failed', rows: 0, firstLoadedAt: null },
  { state: 'pending', rows: 0, firstLoadedAt: null },
  null,
] as const;

/** Makes a state as runs, kills, other versions and damage may leave it, around an instant. */
export function randomState(
  random: Random,
  index: number,
  now: Date,
  { canDamageDays = true } = {},
): RandomState {
  const yesterday = yesterdayOf(now);
  const below = (count: number) => Math.floor(random() * count);
  const ago = (hours: number) => new Date(now.getTime() - random() * hours * HOUR_MS).toISOString();
  const some = <Item>(items: readonly Item[]) => items.filter(() => random() < 0.6);
  // Long ones cost most of the time.
  const isLong = random() < 0.08;
  const start = isLong ? FIRST_DAY : shiftDay(yesterday, -below(40));
  const near = [start, start, shiftDay(start, below(12) - 6), shiftDay(yesterday, 1 + below(3))] as const;
  const firstDay: Value = random() < 0.08 ? FIRST_DAY : pick(random, near);
  const streams = pick<readonly Stream[]>(random, [STREAMS, some(STREAMS), some(STREAMS), ['readiness']]);
  const units: Unit[] = [];
  // Everything may have come in a first export.
  const firstAt = random() < 0.2 ? ago(60) : null;
  for (const stream of some([...DAILY_STREAMS, ...DAILY_STREAMS]).filter(
    (each, at, all) => all.indexOf(each) === at,
  )) {
    let kind: (typeof KINDS)[number] = KINDS[0];
    for (const day of daysFrom(start, shiftDay(yesterday, pick(random, [0, 0, 0, 1])))) {
      if (random() < 0.08) kind = KINDS[below(KINDS.length)] ?? null;
      else if (random() < 0.3) kind = KINDS[0];
      if (kind === null) continue;
      const at = firstAt ?? new Date(Date.parse(`${day}T03:00:00Z`) + 24 * HOUR_MS).toISOString();
      units.push({ stream, day, rows: 3, firstLoadedAt: at, watch: null, ...kind });
    }
  }
  // People of older days have expired: of every day, as a run leaves it. Those of the newest days are always kept.
  if (random() < 0.25) {
    const [drawn, newest] = [shiftDay(start, below(15)), shiftDay(yesterday, -1)];
    const last = drawn < newest ? drawn : newest;
    const kept = units.filter(({ stream, day }) => stream !== 'users' || day > last);
    const expired = daysFrom(FIRST_DAY, last);
    const gone = { stream: 'users', state: 'expired', rows: 0, firstLoadedAt: null, watch: null } as const;
    units.splice(0, units.length, ...kept, ...expired.map((day) => ({ ...gone, day })));
  }
  // A ledger without any unit knows no organization.
  if (units.length === 0)
    units.push({
      stream: 'tools',
      day: yesterday,
      state: 'loaded',
      rows: 1,
      firstLoadedAt: ago(9),
      watch: null,
    });
  const runs = Array.from({ length: below(5) }, (_, at): Run => {
    const startedAt = ago(100);
    const hasEnded = random() < 0.9;
    // No two runs end at one instant: which of them is the last one is not defined.
    const latest = now.getTime() - 1 - at;
    const endedAt = new Date(Math.min(latest, Date.parse(startedAt) + below(HOUR_MS))).toISOString();
    return {
      command: pick(random, ['run', 'run', 'backfill']),
      startedAt,
      endedAt: hasEnded ? endedAt : null,
      exitCode: hasEnded ? pick(random, [0, 0, 0, 4, 5, 2, 3, 6]) : null,
      completed: hasEnded ? pick(random, [STREAMS, STREAMS, some(STREAMS), null]) : [],
    };
  });
  // A clock that was a month ahead.
  const ahead = new Date(now.getTime() + 700 * HOUR_MS).toISOString();
  if (random() < 0.05)
    runs.push({ command: 'run', startedAt: ahead, endedAt: ahead, exitCode: 0, completed: STREAMS });
  if (random() < 0.4) {
    const [startedAt, endedAt] = [ago(60), ago(0)];
    runs.push({ command: 'run', startedAt, endedAt, exitCode: 0, completed: STREAMS });
  }
  const damaged = random();
  const contract = {
    first_day: canDamageDays && random() < 0.05 ? pick(random, ['', '2026-02-30', 'soon']) : firstDay,
    streams:
      random() < 0.1 ? pick(random, ['', 'Tokens', 'everything', 'tokens, users,tools']) : streams.join(','),
    max_age_seconds: pick(random, [93_600, 3_600 * (1 + below(40)), 3_600 * (1 + below(200)), 0]),
    changed_at: damaged < 0.03 ? ahead : canDamageDays && damaged < 0.06 ? 'never' : ago(14),
  };
  const orgId = `org_${index}`;
  return { orgId, name: `name ${index}`, contract: random() < 0.08 ? null : contract, units, runs };
}

/** Replaces everything that the states are about. */
export async function store(warehouse: Held, states: readonly RandomState[]): Promise<void> {
  for (const table of ['export_units', 'export_runs', 'contracts', 'organizations'])
    await warehouse.place.execute(`DELETE FROM ${table}`);
  for (const { orgId, name, contract, units, runs } of states) {
    const rows = new Collector(orgId);
    rows.add(tables.organizations, { name, first_seen_at: '2026-01-14T00:00:00.000Z' });
    rows.add(tables.contracts, contract);
    const table = tables.exportUnits;
    const counts = { attempts: 1, requests: 1, last_pulled_at: '2026-06-01T03:00:00.000Z' };
    for (const { day: date, firstLoadedAt: first_loaded_at, ...unit } of units)
      rows.add(table, { ...unit, ...counts, date, first_loaded_at });
    for (const [at, { startedAt, endedAt, exitCode, completed, command }] of runs.entries()) {
      rows.add(tables.exportRuns, {
        ...{
          run_id: `${orgId} ${at}`,
          command,
          started_at: startedAt,
          ended_at: endedAt,
          exit_code: exitCode,
        },
        ...{ units_done: 1, units_failed: 0, rows_written: 1, requests: 1, retries: 0, versions: '{}' },
        completed: completed === null ? null : JSON.stringify(completed),
      });
    }
    await changeRows(warehouse, { put: rows.all(), remove: [] });
  }
}

const isDate = (text: string) =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(`${text}T00:00:00Z`).toISOString().startsWith(text);

/** Says what every reader must say of a state. */
export function answerTo({ contract, units, runs }: RandomState, now: Date): Answer {
  const names = String(contract?.streams ?? '').split(',');
  const named = STREAMS.filter((stream) => names.includes(stream));
  const streams = named.length === 0 ? STREAMS : named;
  const day = String(contract?.first_day ?? '');
  const firstDay = isDateOrNone(day) && day > FIRST_DAY ? (day as UtcDay) : FIRST_DAY;
  const age = Number(contract?.max_age_seconds ?? 0);
  const maxAgeSeconds = age > 0 ? age : 26 * 3_600;
  const yesterday = yesterdayOf(now);
  const days = firstDay > yesterday ? [] : daysFrom(firstDay, yesterday);
  const daily = DAILY_STREAMS.filter((stream) => streams.includes(stream));
  const lastExpired = units
    .flatMap((unit) => (unit.state === 'expired' ? unit.day : []))
    .toSorted()
    .at(-1);
  const isExpired = (stream: string, each: UtcDay) =>
    stream === 'users' && lastExpired !== undefined && each <= lastExpired;
  const expected = daily.flatMap((stream) =>
    days.filter((each) => !isExpired(stream, each)).map((each) => ({ stream, day: each })),
  );
  const held = new Map(units.map((unit) => [`${unit.stream} ${unit.day}`, unit]));
  const isMissing = (name: string) => {
    const unit = held.get(name);
    return unit === undefined || (['pending', 'failed'].includes(unit.state) && unit.rows === 0);
  };
  const isStored = (name: string) =>
    !isMissing(name) && (held.get(name)?.state !== 'awaiting' || held.get(name)?.watch !== null);
  const nameOf = (unit: { readonly stream: string; readonly day: string }) => `${unit.stream} ${unit.day}`;
  const ends = streams.map((stream) =>
    runs
      .filter(({ completed, endedAt, exitCode, command }) =>
        endedAt === null || Date.parse(endedAt) > now.getTime() + 24 * HOUR_MS
          ? false
          : (completed?.includes(stream) ?? (exitCode === 0 && command !== 'backfill')),
      )
      .toSorted((a, b) => String(b.endedAt).localeCompare(String(a.endedAt)))
      .at(0),
  );
  const last = ends.some((run) => run === undefined)
    ? undefined
    : ends.toSorted((a, b) => String(a?.endedAt).localeCompare(String(b?.endedAt))).at(0);
  const since = last?.endedAt ?? (contract === null ? null : String(contract.changed_at));
  // NaN if there is no instant.
  const ageMs = now.getTime() - Date.parse(since ?? '');
  const allowedSeconds = last === undefined ? 6 * 3_600 : maxAgeSeconds;
  const due = last === undefined ? '' : yesterdayOf(new Date(last.startedAt));
  const isUntouched = (name: string) => (held.get(name)?.state ?? 'pending') === 'pending';
  return {
    ...{ firstDay, streams, maxAgeSeconds },
    usersFrom: lastExpired === undefined ? null : shiftDay(lastExpired, 1),
    expected: expected.map(nameOf),
    missing: expected
      .filter((unit) => isMissing(nameOf(unit)) && unit.day < shiftDay(yesterday, -2))
      .map(nameOf),
    unanswered: new Set(expected.map(nameOf).filter(isMissing)),
    stored: new Set(expected.map(nameOf).filter(isStored)),
    lastCompleteAt: last?.endedAt ?? null,
    isLate: !(
      Math.abs(ageMs - allowedSeconds * 500) <= allowedSeconds * 500 ||
      (ageMs < 0 && ageMs > -24 * HOUR_MS)
    ),
    skippedDays: new Set(
      expected.filter((unit) => unit.day <= due && isUntouched(nameOf(unit))).map((unit) => unit.day),
    ).size,
  };
}

function isDateOrNone(text: string): boolean {
  try {
    return isDate(text);
  } catch {
    return false;
  }
}
