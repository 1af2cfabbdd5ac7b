import { isObject, textsIn } from '../core/json.ts';
import { PULL } from '../marks/index.ts';

/**
 * The rules by which a warehouse and an archive know each other again. Each has a UUID, and remembers the other with its last marks:
 * IDs of runs, and of acts. A mark is remembered abroad only after it is durable at home. So a kill leaves a mark behind and never
 * ahead, and something is wrong only if one side remembers a mark that the other does not have.
 */

/** The last marks of each kind, the newest first. Other kinds than {@link PULL} are acts, which nobody can repeat. */
export type Marks = Readonly<Record<string, readonly string[]>>;

/** True for acts after which archives are swept, and have the mark then: erasures. Who lacks one is swept when both sides meet. */
export function isSwept(kind: string): boolean {
  return kind === 'erasure';
}

/** How many marks of a kind are remembered. */
export const MARKS_MAX = 2;
/** How many lost marks are remembered; the oldest are forgotten. */
const LOST_MAX = 100;

/** What one side remembers of the other. */
export interface Remembered {
  /** Each of them was durable on the other side. */
  readonly marks: Marks;
  /** Marks that the other side was found without, and accepted without. Who has one of them comes from another branch. */
  readonly lost: readonly string[];
}

/** Two sides before a run. */
export interface Sides {
  readonly warehouse: {
    /** Null if it is new, or of an earlier build. */
    readonly id: string | null;
    readonly parents: readonly string[];
    /** `daywalk copy` has made it: nobody has said that its parent is lost. */
    readonly isCopy: boolean;
    /** No run has written it. */
    readonly isNew: boolean;
    /** The archives that it has met and still expects, the one that is most likely meant first. */
    readonly expected: readonly string[];
    /** What it remembers of this archive; null if they have not met. */
    readonly remembered: Remembered | null;
  };
  /** Null if no archive is given. */
  readonly archive: {
    /** Null if it is not there, or of an earlier build. */
    readonly id: string | null;
    /** It has no answer, and of the warehouses that it knows, none had stored anything: a first run has failed. */
    readonly isNew: boolean;
    /** The warehouses that it has met, the last one first. */
    readonly warehouses: readonly string[];
    readonly remembered: Remembered | null;
    /** The acts that it remembers of the parent of a warehouse that it has not met, and that this one lacks. */
    readonly lacked: Marks;
  } | null;
  /** Which of the marks that the archive remembers the warehouse has, and the other way round. */
  readonly warehouseHas: ReadonlySet<string>;
  readonly archiveHas: ReadonlySet<string>;
}

/** Why a run is refused. */
export type Mismatch =
  | 'archive-not-named'
  | 'archive-absent'
  | 'archive-unknown'
  | 'archive-lacks-acts'
  | 'archive-forked'
  | 'warehouse-absent'
  | 'warehouse-unknown'
  | 'warehouse-lacks-acts'
  | 'warehouse-forked';

/** What a comparison found. */
export interface Comparison {
  readonly mismatch: Mismatch | null;
  /** What a person must accept: the side that is not as it was, or that is not there; '' without a mismatch. */
  readonly id: string;
  /** The marks that a side lacks and the other one remembers. */
  readonly lostBy: { readonly warehouse: Marks; readonly archive: Marks };
}

/** Compares a warehouse and an archive. */
export function compareSides({ warehouse, archive, warehouseHas, archiveHas }: Sides): Comparison {
  const lostBy = {
    warehouse: archive?.remembered ? missingOf(archive.remembered, warehouseHas) : (archive?.lacked ?? {}),
    archive: missingOf(warehouse.remembered, archiveHas),
  };
  const found = (mismatch: Mismatch | null, id: string | null = ''): Comparison => ({
    mismatch,
    id: id ?? '',
    lostBy,
  });
  const [expected] = warehouse.expected;
  if (archive === null) return found(expected === undefined ? null : 'archive-not-named', expected);
  if (warehouse.isCopy && Object.keys(archive.lacked).length > 0)
    return found('warehouse-lacks-acts', warehouse.id);
  // An archive without an answer may have been begun by a run that was killed, and put away since.
  if (warehouse.remembered === null && (archive.remembered === null || archive.isNew))
    return found(...strangers(warehouse, archive));
  const lostHere = archive.remembered === null ? [] : Object.keys(lostBy.warehouse);
  const lostThere = Object.keys(lostBy.archive);
  if ((lostHere.length > 0 && lostThere.length > 0) || hasAny(archive.remembered?.lost, warehouseHas))
    return found('warehouse-forked', warehouse.id);
  if (archive.remembered === null && lostThere.length === 0 && isStranger(warehouse, archive))
    return found('warehouse-unknown', warehouse.id);
  if (hasAny(warehouse.remembered?.lost, archiveHas)) return found('archive-forked', archive.id);
  if (lostHere.some(isAct)) return found('warehouse-lacks-acts', warehouse.id);
  if (lostThere.some(isAct)) return found('archive-lacks-acts', archive.id);
  return found(null);
}

type Warehouse = Sides['warehouse'];
type Archive = NonNullable<Sides['archive']>;

/** Two that have not met. */
function strangers(warehouse: Warehouse, archive: Archive): [Mismatch | null, (string | null)?] {
  const [expected] = warehouse.expected;
  const [known] = archive.warehouses;
  if (archive.isNew) return expected === undefined ? [null] : ['archive-absent', expected];
  if (known === undefined || !isStranger(warehouse, archive)) return [null];
  if (warehouse.isNew) return ['warehouse-absent', known];
  // An earlier build has written one of them.
  if (warehouse.id === null || archive.id === null) return [null];
  return expected === undefined ? ['warehouse-unknown', warehouse.id] : ['archive-unknown', archive.id];
}

/** True if an archive knows others, and nothing that a warehouse was made from. */
function isStranger({ parents }: Warehouse, { isNew, warehouses }: Archive): boolean {
  return !isNew && warehouses.length > 0 && !parents.some((id) => warehouses.includes(id));
}

function isAct(kind: string): boolean {
  return kind !== PULL;
}

function hasAny(marks: readonly string[] | undefined, has: ReadonlySet<string>): boolean {
  return marks?.some((mark) => has.has(mark)) ?? false;
}

function missingOf(remembered: Remembered | null, has: ReadonlySet<string>): Marks {
  const missing = Object.entries(remembered?.marks ?? {}).map(
    ([kind, marks]) => [kind, marks.filter((mark) => !has.has(mark))] as const,
  );
  return Object.fromEntries(missing.filter(([, marks]) => marks.length > 0));
}

/**
 * What a side remembers of the other after a comparison without a mismatch, or one that a person has accepted.
 * @param marks the last marks of the other side, all of them durable there.
 * @param lost the marks that the other side lacks.
 * @param has which of the remembered marks the other side has: those are on the branch that goes on.
 */
export function rememberedAfter(
  before: Remembered | null,
  { marks, lost, has }: { readonly marks: Marks; readonly lost: Marks; readonly has: ReadonlySet<string> },
): Remembered {
  const named = Object.entries(lost).flatMap(([kind, own]) => (isSwept(kind) ? [] : own));
  const all = [...named, ...(before?.lost ?? [])].filter((mark) => !has.has(mark));
  return { marks, lost: [...new Set(all)].slice(0, LOST_MAX) };
}

/** All marks that are remembered of a side. */
export function marksOf(remembered: Remembered | null): string[] {
  return remembered === null ? [] : [...Object.values(remembered.marks).flat(), ...remembered.lost];
}

/** Last marks with a newer one. */
export function withMark(marks: Marks, kind: string, mark: string): Marks {
  return { ...marks, [kind]: [mark, ...(marks[kind] ?? [])].slice(0, MARKS_MAX) };
}

/** What was remembered, from parsed JSON. */
export function rememberedIn(value: unknown): Remembered {
  const { marks, lost } = isObject(value) ? value : {};
  const kinds = Object.entries(isObject(marks) ? marks : {});
  return { marks: Object.fromEntries(kinds.map(([kind, own]) => [kind, textsIn(own)])), lost: textsIn(lost) };
}
