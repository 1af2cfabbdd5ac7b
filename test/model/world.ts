import { FIRST_DAY, shiftDay, type UtcDay } from '../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../src/core/stream.ts';
import { type Content, contentOf, NO_ROW, type Person } from './content.ts';
import type { Lie } from './lies.ts';

/** What a stream says of a day from a night on. */
export interface Said {
  readonly from: number;
  readonly people: readonly Person[];
  /** Users that /activity counts besides those that /users names. */
  readonly unnamed?: number;
}

/** One day of an organization: by stream what is said of it, from which night on. */
export type DayHistory = Readonly<Record<DailyStream, readonly Said[]>>;

/** Everything that a service has to say, and what befalls the runs. Nights and days are numbers: day 0 is the first. */
export interface World {
  readonly seed: number;
  readonly days: readonly DayHistory[];
  readonly zeroRows: boolean;
  readonly lies: readonly Lie[];
  /** Days of one request at most. */
  readonly rangeMax: number;
  readonly watchDays: number;
  /** How `/tokens?group_by=model` is answered: as the specification's notes say, with other names, or with 400. */
  readonly sums: 'by-model' | 'other' | 'refused';
  readonly runs: readonly Run[];
  /** The first night after the last lie, change, kill and failure. */
  readonly quietFrom: number;
}

/** One run of a night. */
export interface Run {
  readonly night: number;
  readonly hour: number;
  readonly force: boolean;
  readonly acceptLoss: boolean;
  /** Writes after which the process is killed; null where it is not. */
  readonly killedAfter: number | null;
  /** Share of the requests that fail. */
  readonly failing: number;
  readonly streams: readonly DailyStream[];
}

const NAMES: UtcDay[] = Array.from({ length: 400 }, (_, index) => shiftDay(FIRST_DAY, index));
const NUMBERS = new Map(NAMES.map((day, index) => [day, index]));

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

/** What the service knows: its honest answers, night by night. */
export class Truth {
  readonly #world: World;
  readonly #memory = new Map<string, Content>();

  constructor(world: World) {
    this.#world = world;
  }

  /** What is honestly said of a day in a night. */
  of(stream: DailyStream, day: number, night: number): Content {
    return this.made(stream, day, this.said(stream, day, night), night);
  }

  /** Who is said to have been active; undefined before the day is published. */
  said(stream: DailyStream, day: number, night: number): Said | undefined {
    return this.#world.days[day]?.[stream].findLast(({ from }) => from <= night);
  }

  /** The content that some saying makes, with the trailing counts of the night. */
  made(stream: DailyStream, day: number, said: Said | undefined, night: number): Content {
    if (said === undefined) return stream === 'users' ? contentOf('users', [], SILENT) : NO_ROW;
    const trailing = (days: number) => (stream === 'activity' ? this.#activeIn(day, days, night) : 0);
    const setting = { weekly: trailing(7), monthly: trailing(30), zeroRows: this.#world.zeroRows };
    const people = said.people;
    const unnamed = stream === 'activity' ? (said.unnamed ?? 0) : 0;
    const name = `${stream} ${setting.weekly} ${setting.monthly} ${unnamed} ${people.map((who) => Object.values(who).join()).join(';')}`;
    const known = this.#memory.get(name);
    if (known !== undefined) return known;
    const ghosts = Array.from({ length: unnamed }, (_, index) => ({ ...GHOST, id: 100 + index }));
    const content = contentOf(stream, [...people, ...ghosts], setting);
    this.#memory.set(name, content);
    return content;
  }

  #activeIn(day: number, days: number, night: number): number {
    let mask = 0;
    for (let index = Math.max(0, day - days + 1); index <= day; index += 1)
      for (const { id } of this.said('activity', index, night)?.people ?? []) mask |= 1 << id;
    let count = 0;
    for (; mask !== 0; mask &= mask - 1) count += 1;
    return count;
  }

  /** The last night before `night` in which something else was said of a day in some of its streams; -1 if never. */
  changedIn(day: number, night: number): number {
    const last = DAILY_STREAMS.map(
      (stream) => this.#world.days[day]?.[stream].findLast(({ from }) => from <= night)?.from ?? -1,
    );
    return Math.max(...last);
  }
}

const SILENT = { weekly: 0, monthly: 0, zeroRows: false };
const GHOST: Person = { id: 100, sessions: 1, tools: 0, files: 0, tokens: 0, model: 'a' };
