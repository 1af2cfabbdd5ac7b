import { daysBetween, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS } from '../../../src/core/stream.ts';
import type { Plan, Scene } from './plan.ts';
import { scenesOf } from './plan.ts';
import { dayOfNight, LOST_NIGHTS, NAMES, type Name, type What } from './scenes.ts';

/** A day is missing in the night in which it ended three days ago, so its date is four days back. */
const MISSING_AGE = 4;

/** How the run of an organization ends in a night with such a scene. All others end with 0. */
const EXIT_CODES: Readonly<Partial<Record<What, number>>> = { 'key revoked': 3, outage: 4, 'lost day': 5 };

/** The exit codes of a night, by organization: `0 0 3`. */
export function expectedExits(plan: Plan, night: number): string {
  return NAMES.map((name) => exitOf(scenesOf(plan, night, name))).join(' ');
}

function exitOf(scenes: readonly Scene[]): number {
  return Math.max(0, ...scenes.map(({ what }) => EXIT_CODES[what] ?? 0));
}

/**
 * The incidents of a plan, by the rules of docs/notifications.md, in order:
 * `research: loss-doubted tokens 2026-02-03, nights 4 to 6`.
 */
export function expectedIncidents({ scenes }: Plan): string[] {
  return scenes
    .flatMap((scene) => scene.organizations.flatMap((name) => incidentsOf(scene, name)))
    .toSorted();
}

function incidentsOf(scene: Scene, name: Name): string[] {
  const { what, night, until, streams, day } = scene;
  const text = (kind: string, from: number, to: number | string) =>
    incidentText({ name, kind, from, to: String(to) });
  const failed = text(`run-failed ${EXIT_CODES[what]}`, night, until);
  switch (what) {
    case 'key revoked':
    case 'outage':
      return [
        failed,
        ...missingDays(scene).flatMap(({ date, from }) =>
          DAILY_STREAMS.map((stream) => text(`day-missing ${stream} ${date}`, from, until)),
        ),
      ];
    case 'lost day':
      return [
        failed,
        ...streams.map((stream) => text(`loss-doubted ${stream} ${day}`, night, night + LOST_NIGHTS)),
      ];
    case 'restated young day':
    case 'restated settled day':
      // The last night of the scene is the one that stores the new numbers.
      return streams.map((stream) => text(`restatement ${stream} ${day}`, until - 1, NEXT_RUN));
    case 'late stream':
    case 'late day':
    case 'erasure':
    case 'upgrade':
      return [];
  }
}

/** A restatement is over in the next run, which is the one after the kill if the killed one has reported it. */
export const NEXT_RUN = 'the next run';

/** An incident as a line. */
export function incidentText(incident: {
  readonly name: string;
  /** With its facts: `day-missing tokens 2026-02-03`. */
  readonly kind: string;
  readonly from: number;
  readonly to: string;
}): string {
  return `${incident.name}: ${incident.kind}, nights ${incident.from} to ${incident.to}`;
}

/** The days that nobody could pull in time, each with the night in which it is missed. */
function missingDays({ night, until }: Scene): { readonly date: UtcDay; readonly from: number }[] {
  const first = shiftDay(dayOfNight(night), -1);
  const last = shiftDay(dayOfNight(until - 1), -MISSING_AGE);
  const count = Math.max(0, daysBetween(first, last) + 1);
  return Array.from({ length: count }, (_, index) => ({
    date: shiftDay(first, index),
    from: night + index + MISSING_AGE - 1,
  }));
}
