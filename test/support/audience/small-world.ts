import { parseDay, shiftDay, type UtcDay } from '../../../src/core/day.ts';
import { mergePeople, type PeopleByStretch, stretchesOf } from '../../../src/look/report/limits.ts';
import type { Period } from '../../../src/metrics/period.ts';
import { type Random, sequence } from '../random/seed.ts';
import type { Piece, Published } from './attack.ts';

/** What one person did on a day, as a member of a group. */
interface Activity {
  readonly person: string;
  readonly day: UtcDay;
  readonly group: string;
}

/** A few people, some of whom change groups, and spans of days about which numbers are published. */
export interface AudienceWorld {
  readonly activity: readonly Activity[];
  readonly spans: readonly Period[];
  readonly groups: ReadonlyMap<string, PeopleByStretch>;
  /** The people of all groups in each stretch. */
  readonly everybody: PeopleByStretch;
}

const FIRST = parseDay('2026-02-02');
const DAYS = 14;

/** A world that follows from a seed. */
export function audienceWorld(seed: number): AudienceWorld {
  const random = sequence(seed);
  const names = ['red', 'green', 'blue', 'grey'].slice(0, 2 + Math.floor(random() * 3));
  const people = Array.from({ length: 3 + Math.floor(random() * 6) }, (_, index) => `person ${index}`);
  const activity = people.flatMap((person) => daysOf(person, names, random));
  const spans = spansOf(random);
  const stretches = stretchesOf(spans);
  const groups = new Map(
    [...new Set(activity.map(({ group }) => group))].map((name) => [
      name,
      stretches.map(({ from, until }) => {
        const own = activity.filter(({ group, day }) => group === name && day >= from && day <= until);
        return new Set(own.map(({ person }) => person));
      }),
    ]),
  );
  const everybody =
    groups.size === 0 ? stretches.map(() => new Set<string>()) : mergePeople([...groups.values()]);
  return { activity, spans, groups, everybody };
}

/** The numbers that are published of a world: of everybody, of each group that is shown, and of the others, in each span. */
export function publishedOf(
  { activity, spans }: AudienceWorld,
  shown: ReadonlySet<string>,
): { readonly published: readonly Published[]; readonly pieces: readonly Piece[] } {
  const isOthers = (group: string) => !shown.has(group);
  const within = (name: string | null) => (group: string) =>
    name === null ? isOthers(group) : group === name;
  const tests = [() => true, ...[...shown, null].map(within)];
  const published = spans.flatMap(({ from, until }) =>
    tests.map((isIn) => activity.map(({ day, group }) => day >= from && day <= until && isIn(group))),
  );
  return { published, pieces: activity };
}

function daysOf(person: string, names: readonly string[], random: Random): Activity[] {
  const often = 0.1 + random() * 0.9;
  const moves = random() < 0.2 ? Math.floor(random() * DAYS) : DAYS;
  const [before, after] = [random(), random()].map(
    (number) => names[Math.floor(number * names.length)] ?? '',
  );
  return Array.from({ length: DAYS }, (_, index) => index).flatMap((index) =>
    random() < often
      ? [{ person, day: shiftDay(FIRST, index), group: (index < moves ? before : after) ?? '' }]
      : [],
  );
}

/** Weeks, a period and one before it, or any spans. */
function spansOf(random: Random): Period[] {
  const from = (start: number, length: number): Period => ({
    from: shiftDay(FIRST, start),
    until: shiftDay(FIRST, Math.min(DAYS, start + length) - 1),
  });
  const any = Array.from({ length: 1 + Math.floor(random() * 4) }, () => {
    const start = Math.floor(random() * DAYS);
    return from(start, 1 + Math.floor(random() * DAYS));
  });
  return random() < 0.5 ? any : [from(0, 7), from(7, 7), ...any.slice(0, 2)];
}
