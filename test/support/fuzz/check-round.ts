import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANALYTICS_PATHS, READINESS_PATH } from '../../../src/contract/paths.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import type { RunEvent, RunReport } from '../../../src/pipeline/events.ts';
import { SEED } from '../random/seed.ts';
import { judgeDay, judgeReports, type Served } from './judge.ts';
import { activeUsersIn, lossOf } from './losses.ts';
import { expectedTexts, type Held, quarantineFault, type StoredByOrganization } from './stored.ts';

/** A run on mutated answers, and the warehouse before and after it. */
export interface Round {
  readonly orgId: string;
  readonly served: readonly Served[];
  readonly events: readonly RunEvent[];
  readonly report: RunReport;
  readonly before: StoredByOrganization;
  readonly after: StoredByOrganization;
}

/** Exit codes of a run with no faults other than bad answers. */
const EXIT_CODES: readonly number[] = [0, 4, 5];

/** Returns the faults of a round; empty if it is correct. */
export function faultsOf(round: Round): string[] {
  const faults: string[] = [];
  const { report, events, orgId } = round;
  const [before, after] = [round.before.of(orgId), round.after.of(orgId)];
  if (!EXIT_CODES.includes(report.exitCode))
    faults.push(`exit code ${report.exitCode}: ${JSON.stringify(report.problems)}`);
  for (const event of events) {
    if ('hint' in event && event.hint?.includes('defect') === true) faults.push(JSON.stringify(event));
  }
  const ends = endsOf(events);
  const failed = namesOf(ends, 'unit-failed');
  const done = namesOf(ends, 'unit-done');
  const doubted = namesOf(ends, 'unit-doubted');
  const walks = walksOf(round.served);
  // A run leaves out units if the service seems to be down, or if a response names another organization.
  const isCutShort = report.orgId === null || report.unitsLeftOut > 0;
  const names = new Set([...before.names(), ...after.names(), ...walks.keys()]);
  for (const name of names) {
    const [stream = '', day = ''] = name.split(' ');
    if (stream === 'report' || stream === 'readiness') continue;
    const was = before.unit(name);
    const is = after.unit(name);
    const active = [before, after].flatMap((stored) => activeUsersIn(stored.unit(`activity ${day}`)));
    const lossIn = (answer: Extract<ReturnType<typeof judgeDay>, { kind: 'stored' }>) =>
      lossOf(stream, was, answer, active);
    if (doubted.has(name)) {
      const walk = walks.get(name) ?? [];
      const verdict = judgeDay(stream, day, round.orgId, walk);
      if (!isSame(was, is)) faults.push(describeFault(`${name}: doubted, and changed`, walk));
      else if (is.state !== 'doubted') faults.push(`${name}: doubted, and ${is.state}`);
      else if (verdict.kind !== 'stored')
        faults.push(describeFault(`${name}: doubted, and was to be ${verdict.kind}`, walk));
      else if (!verdict.isHeld && lossIn(verdict) === 'none')
        faults.push(describeFault(`${name}: doubted, and loses nothing`, walk));
      continue;
    }
    // Content stored before the day was requested alone stays as it was.
    if (failed.has(name) && ends.get(name)?.includes('unit-done') === true) continue;
    if (!done.has(name)) {
      if (isSame(was, is)) {
        if (!failed.has(name) && !isCutShort && walks.has(name))
          faults.push(`${name}: neither done nor failed`);
        continue;
      }
      faults.push(describeFault(`${name}: not done, and changed`, walks.get(name)));
      continue;
    }
    const walk = walks.get(name) ?? [];
    const verdict = judgeDay(stream, day, round.orgId, walk);
    if (verdict.kind !== 'stored') {
      faults.push(describeFault(`${name}: done, and was to be ${verdict.kind}`, walk));
      continue;
    }
    const fault = verdict.isHeld ? heldFault(verdict, was, is) : differenceOf(verdict, is);
    if (fault !== undefined) faults.push(describeFault(`${name}: ${fault}`, walk));
    else if (!verdict.isHeld && lossIn(verdict) === 'certain')
      faults.push(describeFault(`${name}: a loss was believed`, walk));
  }
  for (const name of failed) {
    const [stream = '', day = ''] = name.split(' ');
    const walk = walks.get(name);
    if (stream === 'readiness' || walk === undefined) continue;
    const verdict = judgeDay(stream, day, round.orgId, walk);
    if (verdict.kind === 'stored' && !verdict.isDeep)
      faults.push(describeFault(`${name}: failed, and was fine`, walk));
  }
  if (round.before.othersThan(orgId) !== round.after.othersThan(orgId))
    faults.push(`another organization than ${orgId} has changed`);
  return [...faults, ...readinessFaults(round, done)];
}

const ENDS = ['unit-done', 'unit-failed', 'unit-doubted'] as const;
type Ends = ReadonlyMap<string, readonly (typeof ENDS)[number][]>;

/** The results of each unit in order; a unit may be requested more than once. */
function endsOf(events: readonly RunEvent[]): Ends {
  const ends = new Map<string, (typeof ENDS)[number][]>();
  for (const event of events) {
    const type = ENDS.find((known) => known === event.type);
    if (type === undefined || !('stream' in event) || !('day' in event)) continue;
    const name = `${event.stream} ${event.day}`.trim();
    ends.set(name, [...(ends.get(name) ?? []), type]);
  }
  return ends;
}

/** The names of the units whose last event has this type. */
function namesOf(ends: Ends, type: (typeof ENDS)[number]): Set<string> {
  return new Set([...ends].flatMap(([name, list]) => (list.at(-1) === type ? [name] : [])));
}

function isSame(a: Held, b: Held): boolean {
  return (
    JSON.stringify([a.rows.toSorted(), a.quarantined]) === JSON.stringify([b.rows.toSorted(), b.quarantined])
  );
}

/** A unit with held keys holds only rows that were sent or stored before, and is in quarantine. */
function heldFault(
  { rows }: Extract<ReturnType<typeof judgeDay>, { kind: 'stored' }>,
  was: Held,
  is: Held,
): string | undefined {
  const alien = without(is.rows, [...expectedTexts(rows), ...was.rows]);
  if (alien.length > 0) return `found ${alien.slice(0, 3).join('; ')}`;
  const isNamed = is.state === 'quarantined' && is.quarantined.length > 0;
  return isNamed ? undefined : `is ${is.state}, with an impossible value`;
}

function differenceOf(
  { rows, aside }: Extract<ReturnType<typeof judgeDay>, { kind: 'stored' }>,
  held: Held,
): string | undefined {
  const expected = expectedTexts(rows);
  const found = held.rows.toSorted();
  if (!same(expected, found)) {
    const missing = without(expected, found);
    const extra = without(found, expected);
    return `expected ${missing.slice(0, 3).join('; ')} and found ${extra.slice(0, 3).join('; ')}`;
  }
  if ((held.state === 'quarantined') !== aside.length > 0)
    return `is ${held.state}, with ${aside.length} parts set aside`;
  return quarantineFault(aside, held.quarantined);
}

/** Returns the answers to the last walk of each requested unit, in order. */
function walksOf(served: readonly Served[]): Map<string, Served[]> {
  const walks = new Map<string, Served[]>();
  for (const answer of served) {
    const { pathname, searchParams } = answer.url;
    const stream = DAILY_STREAMS.find((name: DailyStream) => ANALYTICS_PATHS[name] === pathname);
    if (stream === undefined) continue;
    for (const day of daysOf(searchParams)) {
      const name = `${stream} ${day}`;
      const begun = walks.get(name) ?? [];
      // A page requested ahead may arrive after its range was abandoned in favour of single days.
      if (searchParams.has('cursor') && !isSameSpan(begun[0], answer)) continue;
      const walk = searchParams.has('cursor') ? begun : [];
      // The same request again is a retry.
      const rest = walk.at(-1)?.url.href === answer.url.href ? walk.slice(0, -1) : walk;
      walks.set(name, [...rest, answer]);
    }
  }
  return walks;
}

function isSameSpan(a: Served | undefined, b: Served): boolean {
  return ['startDate', 'endDate'].every(
    (name) => a?.url.searchParams.get(name) === b.url.searchParams.get(name),
  );
}

const DAY_MS = 86_400_000;

function daysOf(query: URLSearchParams): string[] {
  const first = Date.parse(query.get('startDate') ?? '');
  const last = Date.parse(query.get('endDate') ?? '');
  return Array.from({ length: (last - first) / DAY_MS + 1 }, (_, n) =>
    new Date(first + n * DAY_MS).toISOString().slice(0, 10),
  );
}

/** Every report is stored as it was sent at some time; after a plain walk all are as they were sent last. */
function readinessFaults(round: Round, done: ReadonlySet<string>): string[] {
  const { served, orgId } = round;
  const [before, after] = [round.before.of(orgId), round.after.of(orgId)];
  const faults: string[] = [];
  const pages = served.filter(({ url }) => url.pathname === READINESS_PATH);
  const judged = pages.map(judgeReports);
  const names = new Set([...before.names(), ...after.names()].filter((name) => name.startsWith('report ')));
  const last = new Map<string, string[]>();
  for (const page of judged) for (const [id, rows] of page?.reports ?? []) last.set(id, expectedTexts(rows));
  const heldReports = new Set(judged.flatMap((page) => [...(page?.held ?? [])]));
  for (const name of names) {
    const id = name.slice('report '.length);
    const found = after.unit(name).rows.toSorted();
    const versions = judged.map((page) => page?.reports.get(id));
    const isSent = versions.some((rows) => rows !== undefined && same(expectedTexts(rows), found));
    const isKept = same(before.unit(name).rows.toSorted(), found);
    if (heldReports.has(id)) continue;
    if (found.length > 0 && !isSent && !isKept)
      faults.push(describeFault(`${name} is not as it was sent`, pages));
  }
  if (!done.has('readiness') || !isPlainWalk(pages, judged)) return faults;
  for (const [id, rows] of last) {
    if (!heldReports.has(id) && !same(after.unit(`report ${id}`).rows.toSorted(), rows))
      faults.push(describeFault(`report ${id} is not as it was sent last`, pages));
  }
  if (heldReports.size > 0) return faults;
  const aside = judged.flatMap((page) => page?.aside ?? []);
  const fault = quarantineFault(aside, after.unit('readiness').quarantined);
  return fault === undefined ? faults : [...faults, describeFault(`readiness: ${fault}`, pages)];
}

/** True for a walk from the first page to an empty page without gaps between the pages. */
function isPlainWalk(pages: readonly Served[], judged: readonly ReturnType<typeof judgeReports>[]): boolean {
  let cursor: string | null = null;
  for (const [index, page] of judged.entries()) {
    const asked = pages[index]?.url.searchParams.get('startAfter') ?? null;
    if (page === undefined || asked !== cursor) return false;
    const next = page.ids.at(-1);
    if (next === undefined) return page.aside.length === 0 && index === judged.length - 1;
    cursor = next;
  }
  return false;
}

function without(rows: readonly string[], others: readonly string[]): string[] {
  const known = new Set(others);
  return rows.filter((row) => !known.has(row));
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

let files = 0;

/** A fault, with the files of the answers that caused it. */
function describeFault(fault: string, walk: readonly Served[] = []): string {
  const paths = walk.map(({ body }) => {
    files += 1;
    const path = join(tmpdir(), `daywalk-mutated-${SEED}-${files}.json`);
    writeFileSync(path, body);
    return path;
  });
  return `${fault.slice(0, 1_500)} (${paths.slice(-6).join(' ')})`;
}
