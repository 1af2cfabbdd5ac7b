import { type Effort, type Row, singledOut } from './small-groups.ts';

/** The dimensions whose groups consist of people, in the order in which their blocks are decided. */
export const WEEK_DIMENSIONS = ['team', 'tier', 'model', 'delegation_level', 'language'] as const;
export type WeekDimension = (typeof WEEK_DIMENSIONS)[number];

/** The groups that a part of a person's activity belongs to, as far as it has one. */
export type Groups = Partial<Readonly<Record<WeekDimension, string>>>;

/** What a person did in a week, in the parts that published sums can contain or not. */
export interface PersonWeek {
  /** By day: messages, sessions, and whatever else is published by team and level. */
  readonly days: readonly Groups[];
  /** By day and model: credits. */
  readonly credits: readonly Groups[];
  /** By day and language: files. */
  readonly files: readonly Groups[];
}

/** The blocks of a dimension: the block of each group. */
export type Blocks = ReadonlyMap<string, string>;

/** The block of groups that are not shown alone. Of models, there is one in each block of tiers. */
export const OTHERS = 'others';

/** What blocks are decided from. */
export interface BlockRequest {
  readonly people: readonly PersonWeek[];
  /** No published sum, and nothing that follows from several, is about fewer people. */
  readonly k: number;
  /** The dimensions to decide. */
  readonly dimensions: readonly WeekDimension[];
  /** The blocks that are published already. @default none */
  readonly published?: ReadonlyMap<WeekDimension, Blocks>;
  /** True for a name that must not be printed: its group is always among the others. */
  readonly isUnprintable?: (group: string) => boolean;
}

/**
 * Decides the blocks of a week, one dimension after the other. Groups of fewer than `k` people are among the others; while these are
 * fewer than `k`, or while something about fewer than `k` people follows from the blocks so far, the two smallest blocks merge.
 * A dimension of which one block remains is left out. Nothing at all may be published of fewer than `k` people: then the result
 * is null. Equal requests give equal blocks.
 */
export function decideBlocks(request: BlockRequest): ReadonlyMap<WeekDimension, Blocks> | null {
  const { people, k, dimensions, published = new Map<WeekDimension, Blocks>() } = request;
  if (people.length < k) return null;
  const decided = new Map(published);
  const effort: Effort = { left: WEEK_EFFORT_MAX };
  for (const dimension of WEEK_DIMENSIONS) {
    if (!dimensions.includes(dimension)) continue;
    const blocks = decideDimension(request, { dimension, decided, effort });
    if (blocks !== null) decided.set(dimension, blocks);
  }
  return new Map([...decided].filter(([dimension]) => dimensions.includes(dimension)));
}

/** Groups that are published together. */
interface Block {
  readonly name: string;
  readonly isOthers: boolean;
  /** The block of tiers that it lies in, for models; they merge inside it only. */
  readonly inside: string;
  readonly groups: readonly string[];
  readonly people: ReadonlySet<number>;
}

/** A dimension to decide, what was decided before, and the work that is left for it. */
interface Deciding {
  readonly dimension: WeekDimension;
  readonly decided: ReadonlyMap<WeekDimension, Blocks>;
  readonly effort: Effort;
}

function decideDimension(request: BlockRequest, deciding: Deciding): Blocks | null {
  const { dimension, decided } = deciding;
  const { people, k, isUnprintable = () => false } = request;
  const isHidden = ({ name, people: own }: Block) =>
    own.size < k || name === '' || name.startsWith(OTHERS) || isUnprintable(name);
  let blocks = withOthers(groupsOf(people, dimension, decided.get('tier')), isHidden);
  // Each round has fewer blocks than the one before.
  while (!isTrivial(blocks)) {
    const small = blocks.find(({ people: own }) => own.size < k);
    const found = small === undefined ? singledOutBy(blocks, request, deciding) : [];
    if (found === null) return blockOfGroups(blocks);
    blocks = small === undefined ? mergeFor(blocks, new Set(found)) : mergeSmallest(blocks, small.inside);
  }
  return null;
}

function blockOfGroups(blocks: readonly Block[]): Blocks {
  return new Map(blocks.flatMap(({ name, groups }) => groups.map((group) => [group, name])));
}

/** True if no block says more than the total, or than the block of tiers that it lies in. */
function isTrivial(blocks: readonly Block[]): boolean {
  return blocks.length === new Set(blocks.map(({ inside }) => inside)).size;
}

/** Each group as a block of its own, with its people. */
function groupsOf(
  people: readonly PersonWeek[],
  dimension: WeekDimension,
  tiers: Blocks | undefined,
): Block[] {
  const found = new Map<string, { inside: Set<string>; people: Set<number> }>();
  for (const [person, { days, credits, files }] of people.entries()) {
    for (const part of [...days, ...credits, ...files]) {
      const name = part[dimension];
      if (name === undefined) continue;
      const inside = dimension === 'model' ? (tiers?.get(part.tier ?? '') ?? '') : '';
      const group = found.get(name) ?? { inside: new Set(), people: new Set() };
      group.inside.add(inside);
      group.people.add(person);
      found.set(name, group);
    }
  }
  return [...found].map(([name, group]) => ({
    name,
    isOthers: false,
    inside: [...group.inside].toSorted()[0] ?? '',
    groups: [name],
    people: group.people,
  }));
}

/** Hidden groups together: in one block, or in one of each block of tiers. */
function withOthers(groups: readonly Block[], isHidden: (group: Block) => boolean): Block[] {
  const hidden = new Set(groups.filter(isHidden));
  const others = [...Map.groupBy(hidden, ({ inside }) => inside).values()].map(othersOf);
  return [...groups.filter((group) => !hidden.has(group)), ...others];
}

/** The name of the others: of models, in a block of tiers. */
export function othersIn(inside: string): string {
  return inside === '' ? OTHERS : `${OTHERS} (${inside})`;
}

function othersOf(blocks: readonly Block[]): Block {
  const inside = blocks[0]?.inside ?? '';
  return {
    name: othersIn(inside),
    isOthers: true,
    inside,
    groups: blocks.flatMap(({ groups }) => groups),
    people: new Set(blocks.flatMap(({ people }) => [...people])),
  };
}

/**
 * Merges blocks so that readers may no longer single out some people: the two smallest blocks that these people are in; if they are
 * in one only, that one and the smallest besides; the smaller half of all if it is not known who they are.
 */
function mergeFor(blocks: readonly Block[], people: ReadonlySet<number>): Block[] {
  if (people.size === 0)
    return merge(blocks, blocks.toSorted(bySize).slice(0, Math.ceil((blocks.length + 1) / 2)));
  const concerned = blocks.filter((block) => [...people].some((person) => block.people.has(person)));
  const families = [...Map.groupBy(concerned, ({ inside }) => inside).values()].toSorted(
    (a, b) => b.length - a.length,
  );
  const [family = []] = families;
  return mergeSmallest(blocks, family[0]?.inside, new Set(family));
}

/** Merges the two smallest blocks, in a block of tiers if one is given; some blocks before the others. */
function mergeSmallest(
  blocks: readonly Block[],
  inside?: string,
  first: ReadonlySet<Block> = new Set(),
): Block[] {
  const order = (a: Block, b: Block) => Number(first.has(b)) - Number(first.has(a)) || bySize(a, b);
  const family = blocks.filter((block) => inside === undefined || block.inside === inside).toSorted(order);
  // What has nothing to merge with is merged with everything.
  return merge(blocks, family.length > 1 ? family.slice(0, 2) : blocks);
}

/** Merged blocks have one name, so the others join them. */
function merge(blocks: readonly Block[], merged: readonly Block[]): Block[] {
  const insides = new Set(merged.map(({ inside }) => inside));
  const all = new Set(
    blocks.filter((block) => merged.includes(block) || (block.isOthers && insides.has(block.inside))),
  );
  return [...blocks.filter((block) => !all.has(block)), othersOf([...all])];
}

function bySize(a: Block, b: Block): number {
  return a.people.size - b.people.size || (a.name < b.name ? -1 : 1);
}

/** Numbers that readers can add and subtract, because they are sums over the same parts of activity. */
interface Space {
  readonly dimensions: readonly WeekDimension[];
  /** What must not be singled out, with the groups that it belongs to. */
  partsOf(person: PersonWeek): readonly (readonly Groups[])[];
}

const each = (parts: readonly Groups[]) => parts.map((part) => [part]);

/** Sums of days, of credits, of files; and numbers of people, of whom each counts once in every block. */
const SPACES: readonly Space[] = [
  { dimensions: ['team', 'delegation_level'], partsOf: ({ days }) => each(days) },
  { dimensions: ['team', 'tier', 'model', 'delegation_level'], partsOf: ({ credits }) => each(credits) },
  { dimensions: ['team', 'delegation_level', 'language'], partsOf: ({ files }) => each(files) },
  { dimensions: WEEK_DIMENSIONS, partsOf: ({ days, credits, files }) => [[...days, ...credits, ...files]] },
];

/** The work of one test: more than weeks of 3,000 people need. A test that would take more counts as one that found somebody. */
const TEST_EFFORT_MAX = 60_000_000;
/** The work of all tests of a week, which takes about a second. */
const WEEK_EFFORT_MAX = 150_000_000;

function singledOutBy(
  blocks: readonly Block[],
  { people, k }: BlockRequest,
  { dimension, decided, effort }: Deciding,
): readonly number[] | null {
  const all = new Map([...decided, [dimension, blockOfGroups(blocks)]]);
  for (const { dimensions, partsOf } of SPACES) {
    if (!dimensions.includes(dimension)) continue;
    const rowOf = rowsIn(dimensions, all);
    const rows = people.map((person) => partsOf(person).map(rowOf));
    const most = Math.min(TEST_EFFORT_MAX, effort.left);
    const own = { left: most };
    const found = singledOut(rows, k, own);
    effort.left -= most - own.left;
    if (found !== null) return found;
  }
  return null;
}

/** The columns of parts of activity: the total, and their blocks. */
function rowsIn(
  dimensions: readonly WeekDimension[],
  blocks: ReadonlyMap<WeekDimension, Blocks>,
): (parts: readonly Groups[]) => Row {
  const names = [...blocks].flatMap(([dimension, own]) =>
    [...new Set(own.values())].map((block) => `${dimension} ${block}`),
  );
  const columns = new Map(names.map((name, index) => [name, index + 1]));
  return (parts) => {
    const own = parts.flatMap((part) =>
      dimensions.flatMap((name) => columns.get(`${name} ${blocks.get(name)?.get(part[name] ?? '')}`) ?? []),
    );
    return [0, ...new Set(own)].toSorted((a, b) => a - b);
  };
}
