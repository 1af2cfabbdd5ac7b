import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { adviceOf, BusyError } from '../core/errors.ts';
import { isObject, parseJson } from '../core/json.ts';
import {
  addParent,
  type Comparison,
  compareSides,
  endArchives,
  ensureIdentity,
  expectMatch,
  type Identity,
  isSwept,
  type Marks,
  marksHeld,
  marksOf,
  newestMarks,
  noteArchive,
  type Remembered,
  readWarehouseSide,
  rememberedAfter,
  rememberedIn,
  type Sides,
  withMark,
} from '../identity/index.ts';
import { PULL } from '../marks/index.ts';
import type { Warehouse } from '../port/index.ts';
import { rememberArchive } from '../records/index.ts';
import { ArchiveFile, type Patience, withArchive } from './archive-file.ts';
import { fileOfArchive, hasMoved } from './archive-place.ts';
import { shareKeptOut } from './people.ts';

/** Where an archive keeps its UUID, its last marks, each mark, and what it remembers of each warehouse. */
const IDENTITY = 'identity';
const NEWEST = 'newest marks';
const MARK = 'mark ';
const WAREHOUSE = 'warehouse ';

/** A warehouse as an archive remembers it. */
interface KnownWarehouse {
  readonly id: string;
  readonly remembered: Remembered;
  /** The row, by which a change is noticed. */
  readonly text: string;
  /** When it was last met, as an ISO instant. */
  readonly at: string;
}

/** The UUID of an archive; null if no run has met it since archives have one. */
export function readArchiveId(file: ArchiveFile): string | null {
  return file.meta(IDENTITY);
}

/** The UUID of an archive, which gets one if it has none. Call it inside a transaction. */
export function ensureArchiveId(file: ArchiveFile): string {
  const known = readArchiveId(file);
  if (known !== null) return known;
  const id = randomUUID();
  file.setMeta(IDENTITY, id);
  return id;
}

/** The warehouses that an archive has met, the last one first. */
export function readKnownWarehouses(file: ArchiveFile): KnownWarehouse[] {
  const names = file.query('read', () =>
    file.prepare('SELECT name FROM meta WHERE name GLOB ?', 'value').all(`${WAREHOUSE}*`),
  );
  const known = names.flatMap((name) => {
    const text = file.meta(String(name));
    return text === null ? [] : [knownIn(String(name).slice(WAREHOUSE.length), text)];
  });
  return known.sort((a, b) => (a.at > b.at ? -1 : Number(a.at < b.at)));
}

function knownIn(id: string, text: string): KnownWarehouse {
  const value = parseJson(text);
  const at = isObject(value) ? String(value['at']) : '';
  return { id, text, remembered: rememberedIn(value), at };
}

/** What an archive remembers of a warehouse; null if they have not met. */
export function readKnownWarehouse(file: ArchiveFile, id: string): KnownWarehouse | null {
  const text = file.meta(WAREHOUSE + id);
  return text === null ? null : knownIn(id, text);
}

/** Remembers a warehouse, after it has what is remembered of it. Call it inside a transaction. */
export function rememberWarehouse(file: ArchiveFile, id: string, remembered: Remembered, at: Date): void {
  file.setMeta(WAREHOUSE + id, JSON.stringify({ ...remembered, at: at.toISOString() }));
}

/** True if an archive has no answer, and none of the warehouses that it has met had stored anything. */
export function holdsNothing(file: ArchiveFile): boolean {
  const isEmpty = file.query('read', () => file.lastId()) === 0;
  return isEmpty && readKnownWarehouses(file).every(({ remembered }) => marksOf(remembered).length === 0);
}

/** Forgets all warehouses. Call it inside a transaction. */
export function forgetWarehouses(file: ArchiveFile): void {
  file.prepare('DELETE FROM meta WHERE name GLOB ?').run(`${WAREHOUSE}*`);
}

/** Which of these marks an archive has. */
export function heldMarks(file: ArchiveFile, marks: readonly string[]): Set<string> {
  return new Set(marks.filter((mark) => file.meta(MARK + mark) !== null));
}

/** The last marks of an archive. */
export function newestOf(file: ArchiveFile): Marks {
  return rememberedIn(parseJson(file.meta(NEWEST) ?? '')).marks;
}

/** Marks an archive, unless it has the mark. Call it inside a transaction. */
export function addMark(file: ArchiveFile, kind: string, mark: string): void {
  if (file.meta(MARK + mark) !== null) return;
  file.setMeta(MARK + mark, kind);
  file.setMeta(NEWEST, JSON.stringify({ marks: withMark(newestOf(file), kind, mark) }));
}

/** Other workers may meet the archive at the same time; more attempts than there can be of them. */
const ATTEMPTS_MAX = 1_000;

/** A warehouse and an archive that may meet. */
export interface MeetingPlace extends Patience {
  readonly archive: string;
  readonly warehouse: Pick<Warehouse, 'read' | 'select' | 'transact' | 'location'>;
}

/** A meeting that went well, or that a person has accepted. */
export interface Meeting {
  readonly comparison: Comparison;
  /**
   * Tells both sides the last marks of the other, at the end of the work.
   * @param hasSwept the archive is without everybody whom the gate of the warehouse keeps out.
   */
  part(hasSwept: boolean): Promise<void>;
}

/** A warehouse and an archive that are compared, and do not meet. */
interface Compared extends Pick<MeetingPlace, 'archive'> {
  readonly warehouse: Pick<Warehouse, 'select' | 'location'>;
  /** Create no file beside the archive. @default false */
  readonly leavesNoTrace?: boolean;
}

/** Compares a warehouse with an archive, and says the ID of that; null if it has none. Writes nothing. */
export async function compareArchive(
  place: Compared,
): Promise<Comparison & { readonly archive: string | null }> {
  const { seen, comparison } = await compareAt(place);
  return { ...comparison, archive: seen.sides.archive?.id ?? null };
}

/**
 * Compares a warehouse with its archive before the first write. If both are as they were, or a person accepts what they are, each
 * remembers the other. After a kill, the next meeting finds at most marks that are not remembered yet.
 * @param accepted the ID that a person has named, see `Comparison.id`. @default none
 * @throws {StorageError} with the reason `identity` if something is wrong. Nothing is written then.
 */
export async function meetArchive(place: MeetingPlace, accepted?: string): Promise<Meeting> {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
    const { seen, comparison } = await compareAt(place);
    if (comparison.id !== accepted)
      expectMatch(comparison, {
        archive: fileOfArchive(place.archive),
        warehouse: place.warehouse.location,
      });
    const identity = await settle(place, comparison);
    if (await introduce(place, seen, { comparison, identity }))
      return { comparison, part: (hasSwept) => part(place, identity, hasSwept) };
  }
  throw new BusyError(`other processes write the archive ${place.archive} all the time`, {
    hint: 'repeat the command',
  });
}

interface Seen extends Awaited<ReturnType<typeof readWarehouseSide>> {
  readonly sides: Sides;
  /** The row of the warehouse in the archive; null if there is none. */
  readonly row: string | null;
}

/**
 * Compares what is there. Another worker may meet the archive between the looks at the two sides, so something is wrong only if it is
 * seen twice without a change.
 */
async function compareAt(place: Compared): Promise<{ readonly seen: Seen; readonly comparison: Comparison }> {
  let before = '';
  for (let attempt = 1; ; attempt += 1) {
    const seen = await lookAt(place);
    const comparison = compareSides(seen.sides);
    const state = JSON.stringify(seen, (_, value) => (value instanceof Set ? [...value] : value));
    if (comparison.mismatch === null || state === before || attempt === ATTEMPTS_MAX)
      return { seen, comparison };
    before = state;
  }
}

async function lookAt({ archive, warehouse, leavesNoTrace }: Compared): Promise<Seen> {
  const place = resolve(archive);
  const file = openIfThere(archive, leavesNoTrace);
  if (file === null) {
    const own = await readWarehouseSide(warehouse, { id: null, place });
    const nothing = { id: null, isNew: true, warehouses: [], remembered: null, lacked: {} };
    const sides = { warehouse: own.side, archive: nothing, warehouseHas: NONE, archiveHas: NONE };
    return { ...own, sides, row: null };
  }
  return withArchive(file, async () => {
    const id = readArchiveId(file);
    const own = await readWarehouseSide(warehouse, { id, place });
    const known = readKnownWarehouse(file, own.side.id ?? '');
    const others = readKnownWarehouses(file);
    const warehouses = others.map((each) => each.id);
    const isNew = holdsNothing(file);
    const parent = own.side.parents.find((each) => warehouses.includes(each));
    const inherited = known === null ? others.find((each) => each.id === parent)?.remembered : undefined;
    const lacked = await actsLacked(warehouse, inherited);
    const sides = {
      warehouse: own.side,
      archive: { id, isNew, warehouses, remembered: known?.remembered ?? null, lacked },
      warehouseHas: await marksHeld(warehouse, marksOf(known?.remembered ?? null)),
      archiveHas: heldMarks(file, marksOf(own.side.remembered)),
    };
    return { ...own, sides, row: known?.text ?? null };
  });
}

/** The acts that are remembered of the parent of a warehouse, and that this one lacks, and will lack. */
async function actsLacked(warehouse: Compared['warehouse'], parent: Remembered | undefined): Promise<Marks> {
  const has = await marksHeld(warehouse, marksOf(parent ?? null));
  const lacked = Object.entries(parent?.marks ?? {}).flatMap(([kind, marks]) => {
    const acts = kind !== PULL && !isSwept(kind) ? marks.filter((mark) => !has.has(mark)) : [];
    return acts.length === 0 ? [] : [[kind, acts] as const];
  });
  return Object.fromEntries(lacked);
}

const NONE: ReadonlySet<string> = new Set();

function openIfThere(archive: string, leavesNoTrace: boolean | undefined): ArchiveFile | null {
  try {
    return ArchiveFile.read(archive, leavesNoTrace);
  } catch (error) {
    if (adviceOf(error).reason === 'no-archive') return null;
    throw error;
  }
}

/** Notes what a person has accepted, and gives the warehouse an identity if it has none. */
async function settle({ warehouse, clock }: MeetingPlace, { mismatch, id }: Comparison): Promise<Identity> {
  const at = clock.now();
  if (mismatch === 'archive-absent') await endArchives(warehouse, at, id);
  if (mismatch === 'warehouse-absent') return addParent(warehouse, { parent: id, at });
  return ensureIdentity(warehouse, { parent: null, madeBy: 'run', at });
}

/** Lets both sides remember each other. False if another worker has met the archive since it was looked at. */
async function introduce(
  { archive, warehouse, clock, signal }: MeetingPlace,
  { sides, row, archives }: Seen,
  { comparison: { lostBy }, identity }: { readonly comparison: Comparison; readonly identity: Identity },
): Promise<boolean> {
  const marks = await newestMarks(warehouse);
  const at = clock.now();
  return withArchive(ArchiveFile.create(archive), async (file) => {
    const found = await file.transact('note the warehouse in', { clock, signal }, () => {
      const known = readKnownWarehouse(file, identity.id);
      if ((known?.text ?? null) !== row) return null;
      // Of a first run that has stored nothing, nothing stays.
      if (holdsNothing(file)) forgetWarehouses(file);
      const lost = { marks, lost: known === null ? {} : lostBy.warehouse, has: sides.warehouseHas };
      rememberWarehouse(file, identity.id, rememberedAfter(known?.remembered ?? null, lost), at);
      addMark(file, PULL, randomUUID());
      return { id: ensureArchiveId(file), marks: newestOf(file) };
    });
    if (found === null) return false;
    await shareKeptOut(file, warehouse, { clock, signal });
    const lost = { marks: found.marks, lost: lostBy.archive, has: sides.archiveHas };
    const remembered = rememberedAfter(sides.warehouse.remembered, lost);
    // Before the new place is noted: after a kill between the two, the next meeting repeats it.
    const former = archives.find(({ id }) => id === found.id)?.place;
    const to = resolve(archive);
    if (former !== undefined && former !== to && hasMoved(former, to))
      await rememberArchive(warehouse, to, former);
    await noteArchive(warehouse, { id: found.id, place: to, remembered, at });
    return true;
  });
}

/** The end of a meeting. */
async function part(
  { archive, warehouse, clock, signal }: MeetingPlace,
  identity: Identity,
  hasSwept: boolean,
): Promise<void> {
  const marks = await newestMarks(warehouse);
  const at = clock.now();
  const nothing = { lost: {}, has: NONE };
  await withArchive(ArchiveFile.write(archive), async (file) => {
    const found = await file.transact('note the warehouse in', { clock, signal }, () => {
      // It may have been forgotten for one whose first run has stored something.
      const known = readKnownWarehouse(file, identity.id)?.remembered;
      if (known !== undefined)
        rememberWarehouse(file, identity.id, rememberedAfter(known, { marks, ...nothing }), at);
      if (hasSwept)
        for (const [kind, acts] of Object.entries(marks))
          if (isSwept(kind)) for (const act of acts) addMark(file, kind, act);
      return { id: ensureArchiveId(file), marks: newestOf(file) };
    });
    const { side } = await readWarehouseSide(warehouse, { id: found.id, place: resolve(archive) });
    const remembered = rememberedAfter(side.remembered, { marks: found.marks, ...nothing });
    await noteArchive(warehouse, { id: found.id, place: resolve(archive), remembered, at });
  });
}
