import {
  type Comparison,
  compareSides,
  MARKS_MAX,
  type Marks,
  marksOf,
  type Remembered,
  rememberedAfter,
  type Sides,
} from '../../../src/identity/meeting.ts';
import { PULL } from '../../../src/marks/index.ts';
import { ERASURE } from '../../../src/records/remembered.ts';

/** A warehouse as its disk holds it. */
export interface WarehouseDisk {
  id: string | null;
  parents: string[];
  /** Runs and acts, in their order. */
  marks: { kind: string; id: string }[];
  archives: Map<string, Remembered & { ended: boolean }>;
}

/** An archive as its disk holds it. */
export interface ArchiveDisk {
  id: string | null;
  marks: { kind: string; id: string }[];
  answers: number;
  warehouses: Map<string, Remembered>;
  /** What only the model knows: every mark of a warehouse when it was last remembered, and the last marks of branches that were left. */
  told: Map<string, string[]>;
  left: Map<string, string[]>;
  acts: Set<string>;
  erasures: Set<string>;
}

export function newWarehouse(): WarehouseDisk {
  return { id: null, parents: [], marks: [], archives: new Map() };
}

export function newArchive(): ArchiveDisk {
  return {
    id: null,
    marks: [],
    answers: 0,
    warehouses: new Map(),
    told: new Map(),
    left: new Map(),
    acts: new Set(),
    erasures: new Set(),
  };
}

/** The rules that a world lives by. A mutation of them shows that the worlds can fail. */
export interface IdentityRules {
  readonly compare: (sides: Sides) => Comparison;
  readonly remember: typeof rememberedAfter;
  /** A warehouse is told of an archive before the archive knows the run, and the other way round. */
  readonly abroadFirst: boolean;
}

export const IDENTITY_RULES: IdentityRules = {
  compare: compareSides,
  remember: rememberedAfter,
  abroadFirst: false,
};

/** Thrown where a world kills a process. */
export class Killed extends Error {}

/** What the worlds need from outside. */
interface Instants {
  newId(): string;
  /** Throws {@link Killed} at the instant that the world has chosen. */
  mayDie(): void;
}

export interface RunResult {
  readonly comparison: Comparison;
  readonly isRefused: boolean;
}

function newestOf(marks: readonly { kind: string; id: string }[]): Marks {
  const newest: Record<string, string[]> = {};
  for (const { kind, id } of marks.toReversed()) {
    const known = newest[kind] ?? [];
    if (known.length < MARKS_MAX) newest[kind] = [...known, id];
  }
  return newest;
}

const idsOf = (marks: readonly { id: string }[]) => new Set(marks.map(({ id }) => id));

/** Nothing is lost with an archive, or with the warehouses that it knows. */
function isNothing({ answers, warehouses }: ArchiveDisk): boolean {
  return answers === 0 && [...warehouses.values()].every((known) => marksOf(known).length === 0);
}

export function sidesOf(warehouse: WarehouseDisk, archive: ArchiveDisk | null): Sides {
  const expected = [...warehouse.archives].filter(([, { ended }]) => !ended).map(([id]) => id);
  return {
    warehouse: {
      id: warehouse.id,
      parents: warehouse.parents,
      isCopy: false,
      isNew: warehouse.id === null && warehouse.marks.every(({ kind }) => kind !== PULL),
      expected: expected.toReversed(),
      remembered: warehouse.archives.get(archive?.id ?? '') ?? null,
    },
    archive: archive && {
      id: archive.id,
      isNew: isNothing(archive),
      warehouses: [...archive.warehouses.keys()].toReversed(),
      remembered: archive.warehouses.get(warehouse.id ?? '') ?? null,
      lacked: {},
    },
    warehouseHas: idsOf(warehouse.marks),
    archiveHas: idsOf(archive?.marks ?? []),
  };
}

/**
 * One process: it compares, and if nothing is wrong, or a person has accepted it, it works. It changes the disks step by step, as
 * `src/archive/meet-warehouse.ts` does, and may be killed between any two of them.
 */
export class IdentityProcess {
  readonly #rules: IdentityRules;
  readonly #instants: Instants;

  constructor(rules: IdentityRules, instants: Instants) {
    this.#rules = rules;
    this.#instants = instants;
  }

  /** True if a run would be refused now. */
  wouldRefuse(warehouse: WarehouseDisk, archive: ArchiveDisk): boolean {
    return this.#rules.compare(sidesOf(warehouse, archive)).mismatch !== null;
  }

  /** A run; a command that only adopts works in no way. */
  run(
    warehouse: WarehouseDisk,
    archive: ArchiveDisk | null,
    { accept = '', acts = [], works = true }: { accept?: string; acts?: readonly string[]; works?: boolean },
  ): RunResult {
    const { newId, mayDie } = this.#instants;
    const sides = sidesOf(warehouse, archive);
    const comparison = this.#rules.compare(sides);
    const { mismatch, id } = comparison;
    if (mismatch !== null && (accept === '' || accept !== id)) return { comparison, isRefused: true };
    mayDie();
    if (mismatch === 'archive-absent' || mismatch === 'archive-not-named') {
      const ended = warehouse.archives.get(id);
      if (ended !== undefined) ended.ended = true;
    }
    if (warehouse.id === null) {
      warehouse.id = newId();
      if (mismatch === 'warehouse-absent') warehouse.parents = [id];
    }
    mayDie();
    const steps = [
      () => archive !== null && this.#tellArchive(warehouse, archive, sides, comparison),
      () => archive !== null && this.#tellWarehouse(warehouse, archive, sides, comparison),
    ];
    for (const step of this.#rules.abroadFirst ? steps.toReversed() : steps) {
      step();
      mayDie();
    }
    if (!works) return { comparison, isRefused: false };
    warehouse.marks.push({ kind: PULL, id: newId() });
    mayDie();
    if (archive !== null) archive.answers += 1;
    mayDie();
    for (const kind of acts) warehouse.marks.push({ kind, id: newId() });
    mayDie();
    if (archive !== null) this.#part(warehouse, archive);
    mayDie();
    return { comparison, isRefused: false };
  }

  #tellArchive(warehouse: WarehouseDisk, archive: ArchiveDisk, sides: Sides, { lostBy }: Comparison): void {
    archive.id ??= this.#instants.newId();
    archive.marks.push({ kind: PULL, id: this.#instants.newId() });
    const marks = newestOf(warehouse.marks);
    if (isNothing(archive)) archive.warehouses.clear();
    this.#remember(archive, warehouse, { marks, lost: lostBy.warehouse, has: sides.warehouseHas });
  }

  #remember(
    archive: ArchiveDisk,
    warehouse: WarehouseDisk,
    given: Parameters<typeof rememberedAfter>[1],
  ): void {
    const id = warehouse.id ?? '';
    const before = archive.warehouses.get(id) ?? null;
    archive.warehouses.delete(id);
    archive.warehouses.set(id, this.#rules.remember(before, given));
    const has = idsOf(warehouse.marks);
    const told = archive.told.get(id) ?? [];
    const left = archive.left.get(id) ?? [];
    // Who lacks an erasure is swept, and has it then; that is no other branch.
    const newest = told.findLast((mark) => !archive.erasures.has(mark));
    const branches = newest === undefined || has.has(newest) ? left : [...left, newest];
    archive.left.set(
      id,
      branches.filter((mark) => !has.has(mark)),
    );
    archive.told.set(id, [...has]);
    for (const { kind, id: mark } of warehouse.marks) {
      if (kind !== PULL) archive.acts.add(mark);
      if (kind === ERASURE) archive.erasures.add(mark);
    }
  }

  #tellWarehouse(warehouse: WarehouseDisk, archive: ArchiveDisk, sides: Sides, { lostBy }: Comparison): void {
    const id = archive.id ?? '';
    const before = warehouse.archives.get(id) ?? null;
    warehouse.archives.delete(id);
    const given = { marks: newestOf(archive.marks), lost: lostBy.archive, has: sides.archiveHas };
    warehouse.archives.set(id, { ...this.#rules.remember(before, given), ended: false });
  }

  /** What the end of a run tells: the archive the last marks, and the warehouse the erasures that the archive has. */
  #part(warehouse: WarehouseDisk, archive: ArchiveDisk): void {
    const none = { lost: {}, has: new Set<string>() };
    const marks = newestOf(warehouse.marks);
    const known = idsOf(archive.marks);
    for (const id of marks[ERASURE] ?? []) if (!known.has(id)) archive.marks.push({ kind: ERASURE, id });
    this.#remember(archive, warehouse, { marks, ...none });
    this.#instants.mayDie();
    const before = warehouse.archives.get(archive.id ?? '');
    if (before === undefined) return;
    const after = this.#rules.remember(before, { marks: newestOf(archive.marks), ...none });
    warehouse.archives.set(archive.id ?? '', { ...after, ended: before.ended });
  }
}

type Random = () => number;

/** Nights of one world, and what it found wrong with the rules. */
const NIGHTS = 40;
const ACTS = ['people', 'erasure', 'hook events', 'quarantine'];

/** A world: nights with kills, and disks that are lost, put back, copied and swapped. */
export class IdentityWorld {
  readonly faults: string[] = [];
  readonly #random: Random;
  readonly #process: IdentityProcess;
  #warehouse = newWarehouse();
  #archive = newArchive();
  /** Copies of both disks, the newest last. */
  readonly #copies: { warehouse: WarehouseDisk; archive: ArchiveDisk }[] = [];
  /** Something other than time and kills happened to a disk since the last complete run. */
  #isDisturbed = false;
  /** How many copies there were when the last disturbance was over. */
  #calmSince = 0;
  #ids = 0;
  #stepsToLive = Number.POSITIVE_INFINITY;

  constructor(random: Random, rules: IdentityRules = IDENTITY_RULES) {
    this.#random = random;
    this.#process = new IdentityProcess(rules, {
      newId: () => {
        this.#ids += 1;
        return `id-${this.#ids}`;
      },
      mayDie: () => {
        this.#stepsToLive -= 1;
        if (this.#stepsToLive <= 0) throw new Killed();
      },
    });
    for (let night = 0; night < NIGHTS && this.faults.length === 0; night += 1) this.#night();
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }

  #night(): void {
    if (this.#chance(0.3)) this.#keepCopies();
    if (this.#chance(0.2)) this.#warehouse.marks.push({ kind: this.#anyAct(), id: `act-${this.#random()}` });
    if (this.#chance(0.12)) this.#disturb();
    this.#stepsToLive = this.#chance(0.2) ? 1 + Math.floor(this.#random() * 8) : Number.POSITIVE_INFINITY;
    try {
      this.#run();
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
    }
  }

  #calm(): void {
    if (this.#isDisturbed) this.#calmSince = this.#copies.length;
    this.#isDisturbed = false;
  }

  #anyAct(): string {
    return ACTS[Math.floor(this.#random() * ACTS.length)] ?? 'people';
  }

  #keepCopies(): void {
    this.#copies.push(structuredClone({ warehouse: this.#warehouse, archive: this.#archive }));
  }

  /** Loses, puts back or swaps a disk. */
  #disturb(): void {
    const since = this.#isDisturbed ? this.#copies.length : this.#calmSince;
    this.#isDisturbed = true;
    const copy = structuredClone(this.#copies[Math.floor(this.#random() * this.#copies.length)]);
    const kind = Math.floor(this.#random() * 6);
    if (kind === 0) this.#warehouse = newWarehouse();
    else if (kind === 1) this.#archive = newArchive();
    else if (copy === undefined) return;
    else if (kind === 2) this.#archive = copy.archive;
    else if (kind === 3) this.#failOver(since);
    else {
      // The disk that is taken out stays as a copy and may come back: two branches.
      this.#keepCopies();
      this.#warehouse = copy.warehouse;
    }
  }

  /**
   * A standby that lacks the last runs, and no act, takes over.
   * @param since the number of copies before nothing but runs happened
   */
  #failOver(since: number): void {
    const acts = (disk: WarehouseDisk) => disk.marks.filter(({ kind }) => kind !== PULL).length;
    const standby = this.#copies
      .slice(since)
      .findLast(
        ({ warehouse, archive }) =>
          warehouse.id === this.#warehouse.id &&
          archive.id === this.#archive.id &&
          acts(warehouse) === acts(this.#warehouse) &&
          warehouse.marks.every(({ id }, index) => this.#warehouse.marks[index]?.id === id),
      );
    if (standby === undefined) return;
    this.#warehouse = structuredClone(standby.warehouse);
    if (this.#process.wouldRefuse(this.#warehouse, this.#archive))
      this.faults.push('a failover that lost runs only is refused');
  }

  #run(): void {
    const [warehouse, archive] = [this.#warehouse, this.#archive];
    const acts = this.#chance(0.4) ? [this.#anyAct()] : [];
    const silent = this.#mustRefuse();
    const before = this.#isDisturbed;
    const { comparison, isRefused } = this.#process.run(warehouse, archive, { acts });
    const { mismatch, id, lostBy } = comparison;
    if (!isRefused && silent !== null) this.faults.push(silent);
    if (!before && isRefused) this.faults.push(`nothing happened, and it is refused: ${mismatch}`);
    if (!before && Object.keys({ ...lostBy.archive, ...lostBy.warehouse }).length > 0)
      this.faults.push('nothing happened, and runs are missing');
    if (!isRefused) {
      this.#calm();
      return;
    }
    if (this.#chance(0.3)) return;
    this.#process.run(warehouse, archive, { accept: id, works: false });
    this.#calm();
    if (this.#process.wouldRefuse(warehouse, archive))
      this.faults.push(`${mismatch} was accepted, and is refused again`);
  }

  /** Why the next run must be refused; null if it need not be. */
  #mustRefuse(): string | null {
    const { id, marks, archives, parents } = this.#warehouse;
    const archive = this.#archive;
    const hasRuns = marks.some(({ kind }) => kind === PULL);
    if (id === null && !hasRuns && !isNothing(archive) && archive.warehouses.size > 0)
      return 'an empty warehouse replaces a known one';
    const isKnown = archive.id !== null && archives.has(archive.id);
    const isExpecting = [...archives.values()].some(({ ended }) => !ended);
    if (!isKnown && isNothing(archive) && isExpecting) return 'an empty archive replaces a known one';
    if (id === null || parents.includes(id)) return null;
    const has = idsOf(marks);
    const lost = (archive.told.get(id) ?? []).filter((mark) => !has.has(mark));
    if (lost.some((mark) => archive.acts.has(mark))) return 'an act that the archive heard of is missing';
    if ((archive.left.get(id) ?? []).some((mark) => has.has(mark))) return 'a branch that was left goes on';
    return null;
  }
}
