import type { AnyTable } from '../../schema/define.ts';
import { sql } from '../../schema/query.ts';
import { columnsOf, encoderOf, inKeyOrder, keyOf, readerOf, type Values } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { encodeEntries, GATE_KEYS, keptOutOrganization } from '../kept-out/index.ts';
import { readOrganizationIds } from '../ledger/index.ts';
import { LAST_MARKS } from '../marks/index.ts';
import { RESTORING, type ScanScope, type Warehouse } from '../port/index.ts';
import type { KeptOut } from '../privacy/index.ts';
import { joinPlaces, readRuns, readState, STATES } from '../records/index.ts';
import type { Source } from './sides.ts';

/** A source whose rows of that kind are those that the destination keeps. */
export function withOwnRows(source: Source, own: OwnRows): Source {
  return {
    location: source.location,
    organizations: () => source.organizations(),
    units: (orgId, streams) => source.units(orgId, streams),
    scan: (table, scope, columns) =>
      own.has(table) ? own.scan(source, table, scope) : source.scan(table, scope, columns),
  };
}

const { acts, archives, erased: list, exportState } = tables;
/** The tables with the list of whom the gate keeps out, and its keys: a run on a copy that a kill has left unfinished must know them. */
export const OWN_TABLES = [exportState, list] as const;
/** The name of a state. */
export const nameOf = readerOf(exportState, 'name');
const jsonOf = readerOf(exportState, 'value');
const orgOf = readerOf(exportState, 'org_id');
const certificateOf = readerOf(list, 'certificate');
const encodeState = encoderOf(exportState);

/** Says that a copy takes people out of its destination, whose file may hold deleted values until it has ended. */
const FORGETTING = 'forgetting';

/** When the last run began whose messages a restore has kept: the backup may be older. */
const SENT_UNTIL = 'sent-until';

/** What people were sent, which a restore does not take back. */
const SENT: ReadonlySet<unknown> = new Set([STATES.incidents, STATES.brief, SENT_UNTIL]);

/** States of the destination, by name, that it keeps until a copy has ended. */
type Marks = ReadonlyMap<string, string>;

interface Destination {
  /** The backup that it becomes: it forgets the archives that it has met, and what was done to it. Null for a copy. */
  readonly restored: Warehouse | null;
  /** What it says of itself until the copy has ended. */
  readonly marks: Marks;
  /** A state of it as the policy keeps it; null if it does not. */
  passed(row: Values): Values | null;
}

/**
 * Rows that belong to a warehouse itself, and that a copy into it must not remove: whom the gate keeps out, the keys of that list, the
 * archives, what was done to it that cannot be repeated, where it was copied or published to, and whether lakes lag behind it.
 */
export class OwnRows {
  readonly #keptOut: KeptOut;
  readonly #stored: readonly Values[];
  readonly #state: ReadonlyMap<string, Values>;
  readonly #kept: ReadonlyMap<AnyTable, readonly Values[]>;

  readonly #marks: Marks;

  private constructor(
    keptOut: KeptOut,
    stored: readonly Values[],
    state: readonly Values[],
    { kept, marks }: { readonly kept: ReadonlyMap<AnyTable, readonly Values[]>; readonly marks: Marks },
  ) {
    this.#keptOut = keptOut;
    this.#stored = stored;
    this.#kept = kept;
    this.#marks = marks;
    this.#state = new Map(state.map((row) => [String(nameOf(row)), row]));
  }

  /** @param keptOut whom the gates of both sides keep out */
  static async read(
    destination: Warehouse,
    keptOut: KeptOut,
    { restored, marks, passed }: Destination,
  ): Promise<OwnRows> {
    const state = await collect(destination.scan(exportState, { orgId: '' }));
    const kept = new Map<AnyTable, readonly Values[]>();
    for (const table of restored === null ? [acts, archives] : [])
      kept.set(table, await collect(destination.scan(table)));
    // The one that ran later has sent more.
    const until = await sentUntil(destination);
    const isLater = restored !== null && until >= (await sentUntil(restored));
    const isKnown = isLater && !(await isOfOthers(destination, restored));
    const states = isKnown ? await collect(destination.scan(exportState)) : [];
    if (isKnown) states.push(encodeState({ org_id: '', name: SENT_UNTIL, value: until }));
    const isKept = (row: Values) => keptOutOrganization(keptOut, String(orgOf(row))) === undefined;
    const sent = states.filter((row) => SENT.has(nameOf(row)) && isKept(row)).map(passed);
    kept.set(
      exportState,
      sent.filter((row) => row !== null),
    );
    return new OwnRows(keptOut, await collect(destination.scan(list)), state, { kept, marks });
  }

  has(table: AnyTable): boolean {
    return table === list || table === exportState || this.#kept.has(table);
  }

  /** The rows of the source as the destination keeps them. */
  async *scan(source: Source, table: AnyTable, scope?: ScanScope): AsyncGenerator<readonly Values[]> {
    const rows = await collect(source.scan(table, scope));
    const joined = this.#joined(table, rows);
    const [position, orgId] = [columnsOf(table).indexOf('org_id'), scope?.orgId];
    const inScope = joined.filter((row) => orgId === undefined || row[position] === orgId);
    if (inScope.length > 0) yield inKeyOrder(table, inScope);
  }

  #joined(table: AnyTable, theirs: readonly Values[]): Values[] {
    if (table === list) return this.#joinedList(theirs);
    const nameOfRow = keyOf(table);
    const given = table === exportState ? this.#joinedState(theirs) : theirs;
    const all = [...given, ...(this.#kept.get(table) ?? [])];
    return [...new Map(all.map((row) => [JSON.stringify(nameOfRow(row)), row])).values()];
  }

  #joinedList(theirs: readonly Values[]): Values[] {
    const key = keyOf(list);
    const rows = new Map<string, Values>();
    for (const row of [...encodeEntries(this.#keptOut.entries), ...this.#stored, ...theirs]) {
      const name = JSON.stringify(key(row));
      const known = rows.get(name);
      // Without a certificate, the rows of that side have not been swept.
      if (known === undefined || certificateOf(row) !== null) rows.set(name, row);
    }
    return [...rows.values()];
  }

  #joinedState(theirs: readonly Values[]): Values[] {
    const others = theirs.filter((row) => !this.#isOwn(row));
    const text = (row: Values | undefined) => (row === undefined ? null : String(jsonOf(row)));
    const mine = text(this.#state.get(STATES.archives));
    const archives = joinPlaces(mine, text(theirs.find(isNamed(STATES.archives))));
    const kept = [LAST_MARKS, STATES.published, STATES.lakesDue].map((name) => this.#state.get(name));
    const { keys } = this.#keptOut;
    return [
      ...others,
      ...kept.filter((row) => row !== undefined),
      ...[...this.#marks].map(([name, value]) => encodeState({ org_id: '', name, value })),
      ...(archives === null ? [] : [encodeState({ org_id: '', name: STATES.archives, value: archives })]),
      ...(keys.length === 0
        ? []
        : [encodeState({ org_id: '', name: GATE_KEYS, value: JSON.stringify(keys) })]),
    ];
  }

  #isOwn(row: Values): boolean {
    const own = [STATES.archives, LAST_MARKS, STATES.published, RESTORING, FORGETTING, GATE_KEYS];
    return own.some((name) => isNamed(name)(row));
  }
}

async function sentUntil(warehouse: Warehouse): Promise<string> {
  const [run] = await readRuns(warehouse, 1);
  const kept = (await readState(warehouse, '', SENT_UNTIL)) ?? '';
  return [kept, JSON.stringify(run?.startedAt ?? '')].toSorted().at(-1) ?? '';
}

/** True if a warehouse holds organizations, and none of another one: nothing that was sent was about those. */
async function isOfOthers(warehouse: Warehouse, other: Warehouse): Promise<boolean> {
  const [own, others] = [await readOrganizationIds(warehouse), await readOrganizationIds(other)];
  return own.length > 0 && !own.some((orgId) => others.includes(orgId));
}

function isNamed(name: string): (row: Values) => boolean {
  return (row) => nameOf(row) === name;
}

async function collect(chunks: AsyncIterable<readonly Values[]>): Promise<Values[]> {
  const rows: Values[] = [];
  for await (const chunk of chunks) rows.push(...chunk);
  return rows;
}

/** Notes that a warehouse has all of what it was filled with. */
export async function completeFilling(warehouse: Pick<Warehouse, 'transact'>): Promise<void> {
  await warehouse.transact('complete', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = '' AND name = ${RESTORING}`;
  });
}

/** True if an earlier copy has taken people out of a warehouse and did not end. */
export async function isForgetting(warehouse: Pick<Warehouse, 'read'>): Promise<boolean> {
  return (await readState(warehouse, '', FORGETTING)) !== null;
}

/** What a destination says of itself while a copy takes people out of it, or gives it a part only. */
export function marksOf(forgets: boolean, part: string | null): Marks {
  return new Map([
    ...(part === null ? [] : [[RESTORING, part] as const]),
    ...(forgets ? [[FORGETTING, 'true'] as const] : []),
  ]);
}

/**
 * Makes a warehouse, and the lakes that it was published to, forget the values that a copy has deleted from it.
 * @throws {BusyError} while another program reads a SQLite warehouse; a repetition of the copy resumes.
 */
export async function forgetReplaced(
  warehouse: Pick<Warehouse, 'transact' | 'forgetDeleted'>,
  { renewLakes }: { readonly renewLakes: () => Promise<unknown> },
): Promise<void> {
  await warehouse.forgetDeleted();
  await renewLakes();
  await warehouse.transact('end the copy into', function* () {
    yield sql`DELETE FROM export_state WHERE org_id = '' AND name = ${FORGETTING}`;
  });
}
