import { FIRST_DAY, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import type { DailyStream } from '../../../src/core/stream.ts';
import { type Content, contentOf, NO_ROW, type Person } from './content.ts';
import type { Lie } from './lies.ts';

/** What a stream answers about a day from a night on. */
export interface Said {
  readonly from: number;
  readonly people: readonly Person[];
  /** Users that /activity counts in addition to those of /users. */
  readonly unnamed?: number;
}

/** One day of an organization: the answers by stream, each from a night on. */
export type DayHistory = Readonly<Record<DailyStream, readonly Said[]>>;

/** All responses of a service, and the events that affect the runs. Nights and days are numbers from 0. */
export interface World {
  readonly seed: number;
  readonly days: readonly DayHistory[];
  readonly zeroRows: boolean;
  readonly lies: readonly Lie[];
  /** The most days of one request. */
  readonly rangeMax: number;
  readonly watchDays: number;
  /** The form of `/tokens?group_by=model`: as in the notes of the specification, with other names, or 400. */
  readonly sums: 'by-model' | 'other' | 'refused';
  readonly runs: readonly Run[];
  /** Units, `tools 3`, for which every request fails. */
  readonly broken: ReadonlySet<string>;
  /** Units with a malformed record: it is quarantined when the day is requested alone, and makes a range unclear. */
  readonly malformed: ReadonlySet<string>;
  /** Each run asks first whether the service still answers for the same organization. @default it does not */
  readonly checksOrganization?: boolean;
  /** The first night after the last lie, change, kill and failure. */
  readonly quietFrom: number;
}

export interface Run {
  readonly night: number;
  readonly hour: number;
  /** Hours that the clock of the host is ahead. @default none */
  readonly clockHours?: number;
  readonly force: boolean;
  readonly acceptLoss: boolean;
  /** Writes after which the process is killed; null for no kill. */
  readonly killedAfter: number | null;
  /** Share of the requests that fail. */
  readonly failing: number;
  readonly streams: readonly DailyStream[];
}

const NAMES: UtcDay[] = Array.from({ length: 400 }, (_, index) => shiftDay(FIRST_DAY, index));
const HOUR_MS = 60 * 60 * 1000;
const NUMBERS = new Map(NAMES.map((day, index) => [day, index]));

/** What the host takes for the time of a run, which may be wrong. */
export function timeOf({ night, hour, clockHours = 0 }: Run): Date {
  return new Date(Date.parse(`${dayAt(night)}T00:00:00Z`) + (hour + clockHours) * HOUR_MS);
}

/** The day of a number. */
export function dayAt(index: number): UtcDay {
  const day = NAMES[index];
  if (day === undefined) throw new Error(`there is no day ${index}`);
  return day;
}

/** The number of a day. */
export function indexOf(day: UtcDay): number {
  const index = NUMBERS.get(day);
  if (index === undefined) throw new Error(`there is no ${day}`);
  return index;
}

/** The honest answers of the service, night by night. */
export class Truth {
  readonly #world: World;
  readonly #memory = new Map<Said, Map<string, Content>>();
  readonly #masks = new Map<number, readonly number[]>();

  constructor(world: World) {
    this.#world = world;
  }

  /** The honest answer about a day in a night. */
  of(stream: DailyStream, day: number, night: number): Content {
    return this.made(stream, day, this.said(stream, day, night), night);
  }

  /** The active users; undefined before the day is published. */
  said(stream: DailyStream, day: number, night: number): Said | undefined {
    return this.#world.days[day]?.[stream].findLast(({ from }) => from <= night);
  }

  /** The content of an answer, with the trailing counts of the night. */
  made(stream: DailyStream, day: number, said: Said | undefined, night: number): Content {
    if (said === undefined) return stream === 'users' ? contentOf('users', [], SILENT) : NO_ROW;
    const trailing = (days: number) => (stream === 'activity' ? this.#activeIn(day, days, night) : 0);
    const setting = { weekly: trailing(7), monthly: trailing(30), zeroRows: this.#world.zeroRows };
    const name = `${stream} ${setting.weekly} ${setting.monthly}`;
    const memory = this.#memory.get(said) ?? new Map<string, Content>();
    this.#memory.set(said, memory);
    const known = memory.get(name);
    if (known !== undefined) return known;
    const { people } = said;
    const unnamed = stream === 'activity' ? (said.unnamed ?? 0) : 0;
    const ghosts = Array.from({ length: unnamed }, (_, index) => ({ ...GHOST, id: 100 + index }));
    const content = contentOf(stream, [...people, ...ghosts], setting);
    memory.set(name, content);
    return content;
  }

  /** Users who were active on the last `days` days up to a day, as the service sees it in a night. */
  #activeIn(day: number, days: number, night: number): number {
    const masks = this.#masksOf(night);
    let mask = 0;
    for (let index = Math.max(0, day - days + 1); index <= day; index += 1) mask |= masks[index] ?? 0;
    let count = 0;
    for (; mask !== 0; mask &= mask - 1) count += 1;
    return count;
  }

  #masksOf(night: number): readonly number[] {
    const known = this.#masks.get(night);
    if (known !== undefined) return known;
    const masks = this.#world.days.map((_, day) =>
      (this.said('activity', day, night)?.people ?? []).reduce((mask, { id }) => mask | (1 << id), 0),
    );
    this.#masks.set(night, masks);
    return masks;
  }
}

const SILENT = { weekly: 0, monthly: 0, zeroRows: false };
const GHOST: Person = { id: 100, sessions: 1, tools: 0, files: 0, tokens: 0, model: 'a' };

/** Splits ascending days into batches of at most `daysMax` consecutive days. */
export function stretchesOf(days: readonly UtcDay[], daysMax: number): [UtcDay, ...UtcDay[]][] {
  const stretches: [UtcDay, ...UtcDay[]][] = [];
  let next = -1;
  for (const day of days) {
    const last = stretches.at(-1);
    if (last !== undefined && indexOf(day) === next && last.length < daysMax) last.push(day);
    else stretches.push([day]);
    next = indexOf(day) + 1;
  }
  return stretches;
}
