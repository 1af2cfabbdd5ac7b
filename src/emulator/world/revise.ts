import { daysBetween, FIRST_DAY, shiftDay, type UtcDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { DAILY_STREAMS, type DailyStream } from '../../core/stream.ts';
import {
  type Choice,
  chooseLanguages,
  chooseModels,
  chooseNewUsers,
  chooseUsers,
} from '../dataset/choose.ts';
import type { DayChange } from '../dataset/variant.ts';
import type { World } from './world.ts';

/** What can be revised. */
export const REVISION_KINDS = [
  'restate',
  'vanish-users',
  'add-users',
  'vanish-models',
  'vanish-languages',
  'empty',
  'add-reports',
  'delete-report',
  'change-report',
  'revert',
] as const;

/** One of {@link REVISION_KINDS}. */
export type RevisionKind = (typeof REVISION_KINDS)[number];

/** A change to data that the emulator has already served. */
export interface RevisionRequest {
  readonly kind: RevisionKind;
  /** The past day that changes; every kind of a day needs it. With `revert`, takes back only this day's revisions. */
  readonly day?: UtcDay;
  /** The endpoints that show the change; all of them unless given, so that they stay coherent. */
  readonly streams?: readonly DailyStream[];
  /** How many users, models, languages or reports. Default 1. */
  readonly count?: number;
  /** With `restate`, the share of users whose numbers change. Default 1. */
  readonly share?: number;
  /** Which ones by id or name, instead of `count`. */
  readonly users?: readonly string[];
  readonly models?: readonly string[];
  readonly languages?: readonly string[];
  /** With `delete-report` and `change-report`; the newest report unless given. */
  readonly reportId?: string;
}

/** What a revision changed. */
export interface RevisionOutcome {
  /** Counts revisions from 1. */
  readonly number: number;
  readonly kind: RevisionKind;
  readonly day: UtcDay | null;
  /** Ids or names of the users, models, languages or reports that it is about. */
  readonly names: readonly string[];
}

/**
 * Changes past data. What it chooses depends on the seed, the request and the number of revisions before it.
 * @throws {UsageError} when the day is missing or not a past day, or what is named does not exist.
 */
export function revise(request: RevisionRequest, world: World): RevisionOutcome {
  const number = world.revisions.nextNumber();
  const { kind } = request;
  switch (kind) {
    case 'revert':
      world.revisions.revert(request.day);
      return { number, kind, day: request.day ?? null, names: [] };
    case 'add-reports':
      return { number, kind, day: null, names: addReports(request.count ?? 1, world) };
    case 'delete-report':
    case 'change-report':
      return { number, kind, day: null, names: [touchReport(request, number, world)] };
    default: {
      const day = pastDay(request, world.today());
      const streams = request.streams ?? DAILY_STREAMS;
      const { change, names } = dayChange(kind, {
        request,
        number,
        world,
        day,
        stream: streams[0] ?? 'users',
      });
      world.revisions.addDay({ day, streams, change });
      return { number, kind, day, names };
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

function dayChange(kind: DayKind, task: DayTask): { change: DayChange; names: readonly string[] } {
  const { request, number, world } = task;
  const key = `revision-${number}`;
  const index = daysBetween(FIRST_DAY, task.day);
  const choose = (chooser: typeof chooseUsers, named: readonly string[] | undefined): Choice =>
    chooser({
      dataset: world.dataset,
      day: index,
      stream: task.stream,
      salt: number,
      count: request.count ?? 1,
      named,
    });
  switch (kind) {
    case 'restate':
      return { change: { key, renumbered: { salt: number, share: request.share ?? 1 } }, names: [] };
    case 'empty':
      return { change: { key, empty: true }, names: [] };
    case 'vanish-users': {
      const { places, names } = choose(chooseUsers, request.users);
      return { change: { key, withoutUsers: places }, names };
    }
    case 'add-users': {
      const { places, names } = choose(chooseNewUsers, request.users);
      return { change: { key, withUsers: places }, names };
    }
    case 'vanish-models': {
      const { places, names } = choose(chooseModels, request.models);
      return { change: { key, withoutModels: bitsOf(places) }, names };
    }
    case 'vanish-languages': {
      const { places, names } = choose(chooseLanguages, request.languages);
      return { change: { key, withoutLanguages: bitsOf(places) }, names };
    }
  }
}

function pastDay({ kind, day }: RevisionRequest, today: UtcDay): UtcDay {
  if (day !== undefined && day >= FIRST_DAY && day < today) return day;
  throw new UsageError(`the emulator cannot revise (${kind}) the day ${day ?? 'that is not named'}`, {
    hint: `name a day from ${FIRST_DAY} to ${shiftDay(today, -1)}`,
  });
}

function addReports(count: number, { reports, revisions }: World): string[] {
  const first = reports.initial + revisions.reportChanges().added.length;
  revisions.addReports(count);
  return Array.from({ length: count }, (_, index) => reports.idOf(first + index));
}

function touchReport(request: RevisionRequest, salt: number, world: World): string {
  const list = world.reportList();
  const report =
    request.reportId === undefined ? list.newest : (list.numbers[list.placeOf(request.reportId)] ?? -1);
  if (report < 0) {
    throw new UsageError(`the emulator has no report ${request.reportId ?? 'at all'} to revise`, {
      hint: 'take a reportId from the readiness list',
    });
  }
  if (request.kind === 'delete-report') world.revisions.deleteReport(report);
  else world.revisions.changeReport(report, salt);
  return world.reports.idOf(report);
}

function bitsOf(places: readonly number[]): number {
  return places.reduce((bits, place) => bits | (1 << place), 0);
}
