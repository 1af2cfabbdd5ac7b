import { daysFrom, parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';

/** The organizations of the rehearsal. */
export const NAMES = ['research', 'sales', 'support'] as const;

/** The name of an organization. */
export type Name = (typeof NAMES)[number];

/** The day of the first night. By then, a watched day can be ten days old. */
const FIRST_NIGHT = parseDay('2026-02-02');

/** The day on which a night takes place; nights count from 1. */
export function dayOfNight(night: number): UtcDay {
  return shiftDay(FIRST_NIGHT, night - 1);
}

/** The days of nights up to the last one. */
export function daysOfNights(nights: number): UtcDay[] {
  return daysFrom(FIRST_NIGHT, dayOfNight(nights));
}

/** What is planned about one kind of scene. */
export interface SceneKind {
  /** Nights that it lasts. In the night after it, everything is well again. */
  readonly nights: number;
  /** Nights for each of which the plan has one scene; the plan has at least one. */
  readonly oneIn: number;
  /** Whose service it changes. What changes no service can coincide with any other scene. */
  readonly concerns: 'one' | 'all' | 'a person' | 'the program';
  /** The streams of which one is drawn. Without any, it concerns all of them. */
  readonly streams: readonly DailyStream[];
  /** How many days before the night the day is that it changes; null if it changes no day. */
  readonly age: number | null;
}

const [once, all, none] = [Number.POSITIVE_INFINITY, DAILY_STREAMS, []];

/** How long a lost day is away. */
export const LOST_NIGHTS = 2;

/**
 * Every kind of scene.
 *
 * - `key revoked`: the service refuses the key of an organization.
 * - `outage`: no organization has an answer but 503.
 * - `late stream`: one stream of yesterday arrives after five nights, the others in time.
 * - `late day`: all of yesterday arrives after two nights.
 * - `restated settled day`: the service restates a day that no run pulls any more. Three nights see the same, and the third one
 *   stores it.
 * - `restated young day`: the service restates a day that every run pulls.
 * - `lost day`: a stored day of one stream disappears for {@link LOST_NIGHTS} nights, and comes back. The day is unstable until the
 *   fifth equal look.
 * - `erasure`: a person is erased after the run, by a command that is killed again and again.
 * - `upgrade`: a newer version with another schema replaces the program.
 */
export const SCENE_KINDS = {
  'key revoked': { nights: 7, oneIn: once, concerns: 'one', streams: none, age: null },
  outage: { nights: 2, oneIn: once, concerns: 'all', streams: none, age: null },
  'late stream': { nights: 5, oneIn: 30, concerns: 'one', streams: all, age: 1 },
  'lost day': { nights: LOST_NIGHTS + 4, oneIn: 30, concerns: 'one', streams: all, age: 2 },
  'late day': { nights: 2, oneIn: 15, concerns: 'one', streams: none, age: 1 },
  'restated settled day': { nights: 3, oneIn: 15, concerns: 'one', streams: none, age: 10 },
  'restated young day': { nights: 1, oneIn: 15, concerns: 'one', streams: none, age: 2 },
  erasure: { nights: 1, oneIn: once, concerns: 'a person', streams: none, age: null },
  upgrade: { nights: 1, oneIn: once, concerns: 'the program', streams: none, age: null },
} as const satisfies Record<string, SceneKind>;

/** The name of a kind of scene. */
export type What = keyof typeof SCENE_KINDS;
