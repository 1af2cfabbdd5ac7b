import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import { chooseLanguages, chooseModels, chooseNewUsers, chooseUsers } from '../dataset/choose.ts';
import type { DayChange } from '../dataset/variant.ts';
import type { RevisionKind, RevisionOutcome, RevisionRequest } from './revision-request.ts';
import type { World } from './world.ts';

/**
 * Changes past data. The seed, the request and the number of earlier revisions decide which users, models or languages
 * change.
 * @throws {UsageError} when the day is missing or not in the past, or when the request names something that does not exist.
 */
export function revise(request: RevisionRequest, world: World): RevisionOutcome {
  const number = world.revisions.nextNumber();
  const outcome = { number, kind: request.kind, day: null };
  switch (request.kind) {
    case 'revert':
      world.revisions.revert(request.day);
      return { ...outcome, day: request.day ?? null, names: [] };
    case 'add-reports':
      return { ...outcome, names: addReports(request.count ?? 1, world) };
    case 'delete-report':
    case 'change-report':
      return { ...outcome, names: [changeReport(request, number, world)] };
    default: {
      const day = requirePastDay(request, world.today());
      const streams = request.streams ?? DAILY_STREAMS;
      const task = { request, number, world, day, stream: streams[0] ?? 'users' };
      const { change, names } = changeDay(request.kind, task);
      world.revisions.addDay({ day, streams, change: { key: `revision-${number}`, ...change } });
      return { ...outcome, day, names };
    }
  }
}

interface DayTask {
  readonly request: RevisionRequest;
  readonly number: number;
  readonly world: World;
  readonly day: UtcDay;
  readonly stream: DailyStream;
}

type DayKind = Exclude<RevisionKind, 'revert' | 'add-reports' | 'delete-report' | 'change-report'>;

function changeDay(
  kind: DayKind,
  { request, number, world, day, stream }: DayTask,
): { change: Omit<DayChange, 'key'>; names: readonly string[] } {
  const { count = 1, share = 1, users, models, languages } = request;
  const wish = { dataset: world.dataset, day: daysBetween(FIRST_DAY, day), stream, salt: number, count };
  switch (kind) {
    case 'restate':
      return { change: { renumbered: { salt: number, share } }, names: [] };
    case 'empty':
      return { change: { empty: true }, names: [] };
    case 'vanish-users': {
      const { places, names } = chooseUsers({ ...wish, named: users });
      return { change: { withoutUsers: places }, names };
    }
    case 'add-users': {
      const { places, names } = chooseNewUsers({ ...wish, named: users });
      return { change: { withUsers: places }, names };
    }
    case 'vanish-models': {
      const { places, names } = chooseModels({ ...wish, named: models });
      return { change: { withoutModels: toBits(places) }, names };
    }
    case 'vanish-languages': {
      const { places, names } = chooseLanguages({ ...wish, named: languages });
      return { change: { withoutLanguages: toBits(places) }, names };
    }
  }
}

function requirePastDay({ kind, day }: RevisionRequest, today: UtcDay): UtcDay {
  if (day !== undefined && day >= FIRST_DAY && day < today) return day;
  const problem = day === undefined ? 'no day is given' : `${day} is not a past day`;
  throw new UsageError(`the emulator cannot apply the revision ${kind}: ${problem}`, {
    hint: `name a day from ${FIRST_DAY} to ${shiftDay(today, -1)}`,
  });
}

function addReports(count: number, { reports, revisions }: World): string[] {
  const first = reports.initial + revisions.reportChanges().added.length;
  revisions.addReports(count);
  return Array.from({ length: count }, (_, index) => reports.idOf(first + index));
}

function changeReport({ kind, reportId }: RevisionRequest, salt: number, world: World): string {
  const list = world.reportList();
  const report = reportId === undefined ? list.newest : (list.numbers[list.placeOf(reportId)] ?? -1);
  if (report < 0) {
    const problem = reportId === undefined ? 'there are no reports' : `there is no report ${reportId}`;
    throw new UsageError(`the emulator cannot apply the revision ${kind}: ${problem}`, {
      hint: 'use a reportId from the readiness list',
    });
  }
  if (kind === 'delete-report') world.revisions.deleteReport(report);
  else world.revisions.changeReport(report, salt);
  return world.reports.idOf(report);
}

function toBits(places: readonly number[]): number {
  return places.reduce((bits, place) => bits | (1 << place), 0);
}
