import type { UtcDay } from '../../../src/core/day.ts';
import { shiftDay } from '../../../src/core/day.ts';
import { DAILY_STREAMS, type DailyStream } from '../../../src/core/stream.ts';
import { pick, type Random } from '../random/seed.ts';
import { dayOfNight, NAMES, type Name, SCENE_KINDS, type SceneKind, type What } from './scenes.ts';

/** One scene of the plan. */
export interface Scene {
  readonly what: What;
  /** The first night. */
  readonly night: number;
  /** The night in which everything is well again. */
  readonly until: number;
  readonly organizations: readonly Name[];
  /** The streams that it concerns. */
  readonly streams: readonly DailyStream[];
  /** The day whose data it changes; null if it changes none. */
  readonly day: UtcDay | null;
}

/** What happens in which night. */
export interface Plan {
  readonly nights: number;
  /** By night. */
  readonly scenes: readonly Scene[];
}

/** The fewest nights that have room for one scene of each kind. */
export const NIGHTS_MIN = 20;
/** The first nights are undisturbed, so that every organization has a history. */
const FIRST_SCENE = 4;
/** How often a plan is drawn again if a scene finds no room. */
const DRAWS_MAX = 1_000;
const PLACES_MAX = 200;

/**
 * Draws a plan: at most one scene at a time for each organization, with an undisturbed night after it, and none about a day of an
 * earlier one. No upgrade falls between the looks at a restated settled day: it gives all content other digests, so that they
 * would begin again.
 * @throws {Error} if there are too few nights.
 */
export function drawPlan(nights: number, random: Random): Plan {
  if (nights < NIGHTS_MIN) throw new Error(`a rehearsal has at least ${NIGHTS_MIN} nights, not ${nights}`);
  for (let draw = 0; draw < DRAWS_MAX; draw += 1) {
    const scenes = drawScenes(nights, random);
    if (scenes !== null) return { nights, scenes: scenes.toSorted((a, b) => a.night - b.night) };
  }
  throw new Error(`${nights} nights have no room for all scenes`);
}

function drawScenes(nights: number, random: Random): Scene[] | null {
  const scenes: Scene[] = [];
  for (const [what, kind] of entries()) {
    const count = Math.max(1, Math.floor(nights / kind.oneIn));
    for (let index = 0; index < count; index += 1) {
      const scene = placeScene(what, kind, { nights, random, scenes });
      if (scene === null) return null;
      scenes.push(scene);
    }
  }
  return scenes;
}

interface Drawing {
  readonly nights: number;
  readonly random: Random;
  /** The scenes that have a place. */
  readonly scenes: readonly Scene[];
}

function placeScene(what: What, kind: SceneKind, { nights, random, scenes }: Drawing): Scene | null {
  const { streams, age, concerns } = kind;
  for (let attempt = 0; attempt < PLACES_MAX; attempt += 1) {
    // The last night is undisturbed.
    const night = FIRST_SCENE + Math.floor(random() * (nights - kind.nights - FIRST_SCENE + 1));
    const until = night + kind.nights;
    const one = pick(random, NAMES);
    const organizations = concerns === 'all' ? NAMES : concerns === 'the program' ? [] : [one];
    const day = age === null ? null : shiftDay(dayOfNight(night), -age);
    const isTaken = scenes.some(
      (other) =>
        (what === 'upgrade' &&
          other.what === 'restated settled day' &&
          other.night < night &&
          night < other.until) ||
        (organizations.some((name) => other.organizations.includes(name)) &&
          // A day that goes back and forth takes longer, so no day is changed twice.
          ((day !== null && other.day === day) ||
            (changesServices(kind) &&
              changesServices(SCENE_KINDS[other.what]) &&
              other.night <= until &&
              night <= other.until))),
    );
    if (isTaken) continue;
    const [first, ...others] = streams;
    return {
      ...{ what, night, until, organizations },
      streams: first === undefined ? DAILY_STREAMS : [pick(random, [first, ...others])],
      day,
    };
  }
  return null;
}

/** True for a scene during which the service of an organization has no other one. */
export function changesServices({ concerns }: SceneKind): boolean {
  return concerns === 'one' || concerns === 'all';
}

/** The scenes of a night that concern an organization. */
export function scenesOf(plan: Plan, night: number, name: Name): Scene[] {
  return plan.scenes.filter(
    (scene) => scene.night <= night && night < scene.until && scene.organizations.includes(name),
  );
}

/** The only scene of a kind. */
export function sceneOf(plan: Plan, what: What): Scene {
  const scene = plan.scenes.find((one) => one.what === what);
  if (scene === undefined) throw new Error(`nothing is planned of ${what}`);
  return scene;
}

/** A line for each scene, for people. */
export function planText({ nights, scenes }: Plan): string {
  const lines = scenes.map(({ what, night, until, organizations, streams, day }) => {
    const when = until === night + 1 ? `${night}` : `${night} to ${until - 1}`;
    const whom = organizations.length === NAMES.length ? 'all' : organizations.join(', ');
    const which = day === null ? '' : `${streams.length === 1 ? streams[0] : 'all streams'} of ${day}`;
    return `  ${when.padEnd(9)} ${what.padEnd(21)} ${whom.padEnd(9)} ${which}`.trimEnd();
  });
  return [`The plan of ${nights} nights, each with a kill:`, ...lines].join('\n');
}

function entries(): [What, SceneKind][] {
  const names: What[] = [];
  for (const name in SCENE_KINDS) if (isWhat(name)) names.push(name);
  return names.map((name) => [name, SCENE_KINDS[name]]);
}

function isWhat(name: string): name is What {
  return name in SCENE_KINDS;
}
