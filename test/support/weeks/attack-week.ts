import {
  type Blocks,
  type Groups,
  type PersonWeek,
  WEEK_DIMENSIONS,
  type WeekDimension,
} from '../../../src/weeks/blocks.ts';
import { type Part, peopleWhoFollow } from './attack.ts';

/** What is published of a week: for each block of each dimension, and the total, which parts it contains. */
function partsOf(
  people: readonly PersonWeek[],
  blocks: ReadonlyMap<WeekDimension, Blocks>,
  {
    dimensions,
    of,
  }: { dimensions: readonly WeekDimension[]; of: (person: PersonWeek) => (readonly Groups[])[] },
): { parts: Part[]; sums: number } {
  const names = ['total'];
  const at = (name: string) => {
    if (!names.includes(name)) names.push(name);
    return names.indexOf(name);
  };
  const parts = people.flatMap((person, index) =>
    of(person).map((groups) => {
      const own = groups.flatMap((group) =>
        dimensions.flatMap((dimension) => {
          const block = blocks.get(dimension)?.get(group[dimension] ?? '');
          return block === undefined ? [] : [at(`${dimension}/${block}`)];
        }),
      );
      return { person: String(index), sums: [0, ...new Set(own)] };
    }),
  );
  return { parts, sums: names.length };
}

const one = (parts: readonly Groups[]) => parts.map((part) => [part]);

const VIEWS = {
  sessions: { dimensions: ['team', 'delegation_level'], of: ({ days }: PersonWeek) => one(days) },
  credits: {
    dimensions: ['team', 'tier', 'model', 'delegation_level'],
    of: ({ credits }: PersonWeek) => one(credits),
  },
  files: { dimensions: ['team', 'delegation_level', 'language'], of: ({ files }: PersonWeek) => one(files) },
  people: {
    dimensions: WEEK_DIMENSIONS,
    of: ({ days, credits, files }: PersonWeek) => [[...days, ...credits, ...files]],
  },
} as const;

/** The people whom an attacker finds who sees every block of a week, and knows who is in which; `most` of them in each view. */
export function attackWeek(
  people: readonly PersonWeek[],
  blocks: ReadonlyMap<WeekDimension, Blocks>,
  most: number,
): string[] {
  return Object.values(VIEWS).flatMap((view) => {
    const { parts, sums } = partsOf(people, blocks, view);
    return peopleWhoFollow(parts, sums, most) ?? [];
  });
}
