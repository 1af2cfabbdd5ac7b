import type { AnyTable } from '../../schema/define.ts';
import { contentSha256 } from '../../schema/digest.ts';
import { sql } from '../../schema/query.ts';
import { columnsOf, readerOf, type Values } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import type { Clock } from '../core/clock.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import { BusyError } from '../core/errors.ts';
import { DAILY_STREAMS, type Stream } from '../core/stream.ts';
import { rewrittenUnit } from '../judge/notes.ts';
import {
  joinLists,
  keptOutOrganization,
  readKeptOut,
  sweptTable,
  textColumnsOf,
  throughGate,
  withoutPeople,
  withSubjects,
} from '../kept-out/index.ts';
import { rewrittenRow } from '../ledger/index.ts';
import { keepsLess, mayNameAnyone } from '../policy/index.ts';
import type { ScanScope, Warehouse } from '../port/index.ts';
import { type Gate, type KeptOut, PeopleKeptOut } from '../privacy/index.ts';
import { ERASURE, pendingErasures } from '../records/index.ts';
import { dateOf, type LedgerUnit } from '../units/index.ts';
import type { CopyObserver } from './events.ts';
import { isForgetting, marksOf, nameOf, OwnRows, withOwnRows } from './own-rows.ts';
import { inTurns, type Sides, type Source, sourceOf } from './sides.ts';

/** Each round finds further addresses; more rounds than anyone has addresses beside addresses. */
const ROUNDS_MAX = 10;

/** What was decided since a backup was taken. */
export interface DecidedSince {
  /** What is kept of people now; null if all is. */
  readonly gate: Gate | null;
}

/** What a copy is made from. */
export interface Given {
  readonly source: Warehouse;
  readonly stored: Warehouse;
  /** The warehouse to write to; `stored` is another connection to it. */
  readonly destination: Warehouse;
  /** Whom the gate keeps out since the source was written, as far as it is known. */
  readonly keptOut: KeptOut;
  /** The source is a backup, and what has been decided since is applied to it. @default it is a warehouse in use */
  readonly since?: DecidedSince | undefined;
  /** JSON that says until the end what the destination has a part of; null if it may be used meanwhile. */
  readonly mark: string | null;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly observe: CopyObserver;
}

/** Two sides after what was decided on either. */
export interface DecidedSides extends Sides {
  /** True for an organization that is kept out. */
  keepsOut(orgId: string): boolean;
  /** What a row of the destination is without whom both sides keep out. */
  passerOf(table: AnyTable): (row: Values) => Values;
}

/** The source of a copy after what was decided. */
interface DecidedSource extends Pick<DecidedSides, 'source' | 'keepsOut' | 'passerOf'> {
  /** The destination has rows, and may have people in them who are kept out: it must forget what the copy deletes. */
  readonly forgets: boolean;
}

/**
 * The source as it would be without everyone whom the gate keeps out of the destination, or is to keep out otherwise. A source that was swept
 * of them itself is read as it is. Call inside a snapshot of the source, with the lock of the destination.
 * @throws {BusyError} while an erasure on either side is not complete; in a backup it may be.
 */
export async function decidedSource({
  source,
  destination,
  stored,
  keptOut: known,
  since,
  mark,
  clock,
  signal,
  observe,
}: Given): Promise<DecidedSource> {
  // Whoever restores a backup completes the erasure there.
  for (const warehouse of since === undefined ? [source, destination] : [destination])
    await expectNoErasure(warehouse);
  const forgets = await mayHoldOthers({ source, stored, keptOut: known, since });
  const [theirs, kept] = [await readKeptOut(source), await readKeptOut(stored)];
  // The rows of the source bear the pseudonyms of its own key, so that key stays the first one.
  let list = joinLists(theirs, joinLists(kept, known));
  const pass = since?.gate ? throughGate(since.gate).rowsOf(exportState) : (row: Values) => row;
  const passed = (row: Values) => pass(passerOf(list)(exportState)(row));
  const restored = since === undefined ? null : source;
  const own = { restored, marks: marksOf(forgets, mark), passed };
  const isClean =
    since === undefined ? await knowsAll(source, stored, known) : await isSwept(source, list, since);
  const decided = async (rows: Source) => ({
    source: withOwnRows(rows, await OwnRows.read(stored, list, own)),
    forgets,
    keepsOut: (orgId: string) => keptOutOrganization(list, orgId) !== undefined,
    passerOf: passerOf(list),
  });
  if (isClean) return decided(sourceOf(source));
  for (let round = 1; ; round += 1) {
    const units = await DecidedUnits.read(sourceOf(source), { list, gate: since?.gate ?? null, signal });
    const before = list.entries.length;
    for (const { orgId, value } of units.learned)
      list = withSubjects(list, orgId, [{ kind: 'email', value }], clock.now());
    if (list.entries.length > before && round < ROUNDS_MAX) continue;
    for (const orgId of units.organizations) {
      const message = `the organization ${orgId} was erased from ${stored.location}: it is not copied`;
      observe({ type: 'warning', message, hint: undefined });
    }
    return decided(units.source);
  }
}

/** True if everyone who was swept out of the rows of the destination, or is known otherwise, was swept out of those of the source too. */
async function knowsAll(source: Warehouse, stored: Warehouse, { entries }: KeptOut): Promise<boolean> {
  const known = new Set(await sweptIn(source));
  const swept = [...(await sweptIn(stored)), ...entries.map(({ subjectHmac }) => subjectHmac)];
  return swept.every((hmac) => known.has(hmac));
}

/** True if a destination has rows from before somebody was listed or a stricter policy, or an earlier copy has replaced such rows and did not end. */
async function mayHoldOthers({
  source,
  stored,
  keptOut: { entries },
  since,
}: Pick<Given, 'source' | 'stored' | 'keptOut' | 'since'>): Promise<boolean> {
  if (await isForgetting(stored)) return true;
  const known = new Set(await sweptIn(stored));
  const swept = [...(await sweptIn(source)), ...entries.map(({ subjectHmac }) => subjectHmac)];
  const isSame = swept.every((hmac) => known.has(hmac));
  if (isSame && !(await keepsLess(source, stored, since?.gate ?? null))) return false;
  return mayNameAnyone(stored);
}

/** True if nothing was decided since a backup was taken that its rows do not show. */
async function isSwept(source: Warehouse, { entries }: KeptOut, { gate }: DecidedSince): Promise<boolean> {
  const known = new Set(await sweptIn(source));
  return gate === null && entries.every(({ subjectHmac }) => known.has(subjectHmac));
}

/** Others are on the list because an archive or a run has added them. */
async function sweptIn(warehouse: Pick<Warehouse, 'select'>): Promise<string[]> {
  const rows = await warehouse.select(sql`SELECT subject_hmac FROM erased WHERE certificate IS NOT NULL`);
  return rows.map((row) => String(row['subject_hmac']));
}

/** What rows of any organization are without whom a list keeps out. */
function passerOf(list: KeptOut): DecidedSides['passerOf'] {
  const people = new PeopleKeptOut(list, [...new Set(list.entries.map(({ orgId }) => orgId))]);
  return (table) => withoutPeople(people).othersOf(table);
}

/** The plan of an erasure names the person, and belongs to the warehouse that began it. */
async function expectNoErasure(warehouse: Pick<Warehouse, 'select' | 'location'>): Promise<void> {
  if ((await pendingErasures(warehouse)).length === 0) return;
  throw new BusyError(`an erasure in ${warehouse.location} is not complete; nothing was copied`, {
    hint: 'wait for it to end; if it was interrupted, repeat it there',
  });
}

const { exportState, exportUnits, quarantine } = tables;
const streamOf = readerOf(exportUnits, 'stream');
const dayOf = readerOf(exportUnits, 'date');
const rowCount = columnsOf(exportUnits).indexOf('rows');

/** What the rows of a source are to show. */
interface DecidedUntil {
  readonly list: KeptOut;
  readonly gate: Gate | null;
  readonly signal: AbortSignal;
}

/** Reads a warehouse as it would be after a sweep that it does not know, or under another email policy. It reads everything once in advance. */
class DecidedUnits {
  readonly #given: Source;
  readonly #list: KeptOut;
  readonly #gate: Gate | null;
  readonly #people = new Map<string, PeopleKeptOut>();
  readonly #passers = new Map<string, (row: Values) => Values | null>();
  /** The digests of units that change, and how many rows they have. */
  readonly #contents = new Map<string, { readonly digest: string; readonly rows: number }>();
  /** Organizations that the source has and that are kept out. */
  readonly organizations: readonly string[];

  private constructor(
    given: Source,
    { list, gate }: Omit<DecidedUntil, 'signal'>,
    organizations: readonly string[],
  ) {
    this.#given = given;
    this.#list = list;
    this.#gate = gate;
    this.organizations = organizations;
  }

  static async read(given: Source, { list, gate, signal }: DecidedUntil): Promise<DecidedUnits> {
    const stored = await given.organizations();
    const out = stored.filter((orgId) => keptOutOrganization(list, orgId) !== undefined);
    const units = new DecidedUnits(given, { list, gate }, out);
    for (const orgId of await units.source.organizations())
      for (const stream of [...DAILY_STREAMS, 'readiness'] as const)
        await units.#readStream(orgId, stream, signal);
    return units;
  }

  /** Addresses that were found with an ID that is kept out and are not on the list. */
  get learned(): readonly { readonly orgId: string; readonly value: string }[] {
    return [...this.#people].flatMap(([orgId, { learned }]) =>
      orgId === '' ? [] : learned.map((value) => ({ orgId, value })),
    );
  }

  /** The warehouse without whom it keeps out. */
  get source(): Source {
    const { location } = this.#given;
    return {
      location,
      organizations: async () =>
        (await this.#given.organizations()).filter((orgId) => !this.organizations.includes(orgId)),
      units: async (orgId, streams) =>
        (await this.#given.units(orgId, streams)).flatMap((unit) =>
          this.#keeps(unit) ? this.#unit(unit) : [],
        ),
      scan: (table, scope) => this.#rows(table, scope),
    };
  }

  /** What has expired stays marked so. */
  #keeps(unit: LedgerUnit): boolean {
    if (unit.stream !== 'users' || this.#gate === null || unit.state === 'expired') return true;
    return this.#gate.keepsUsersOf(unit.day);
  }

  async #readStream(orgId: string, stream: Stream, signal: AbortSignal): Promise<void> {
    const changed = new Set<UtcDay | ''>();
    for (const table of tablesOf(stream)) {
      const date = columnsOf(table).indexOf('date');
      const pass = this.#passer(table, orgId);
      for await (const rows of inTurns(this.#given.scan(table, { orgId }), signal)) {
        for (const row of rows) {
          if (pass(row) === row) continue;
          const day = row[date];
          changed.add(isDay(day) ? day : '');
        }
      }
    }
    for (const day of changed) {
      const scope = day === '' ? { orgId } : { orgId, firstDay: day, lastDay: day };
      const content: { table: AnyTable; rows: Values[] }[] = [];
      for (const table of tablesOf(stream)) {
        const rows: Values[] = [];
        for await (const chunk of this.#rows(table, scope)) rows.push(...chunk);
        content.push({ table, rows });
      }
      const count = content.reduce((sum, { rows }) => sum + rows.length, 0);
      this.#contents.set(unitKeyText(orgId, stream, day), { digest: contentSha256(content), rows: count });
    }
  }

  #unit(unit: LedgerUnit): LedgerUnit {
    const contentOf = this.#contents.get(unitKeyText(unit.orgId, unit.stream, dateOf(unit)));
    if (contentOf === undefined) return unit;
    return { ...unit, ...rewrittenUnit(unit, contentOf.digest), rows: contentOf.rows };
  }

  /** The rows in key order. Rows whose keys may change are sorted again, those of a day or of an organization at once. */
  async *#rows(table: AnyTable, scope: ScanScope | undefined): AsyncGenerator<readonly Values[]> {
    const columns: readonly string[] = columnsOf(table);
    const [org, fixed] = [columns.indexOf('org_id'), fixedKeyOf(table)];
    const isFixed = fixed.length === table.key.length;
    let group: Values[] = [];
    let name = '';
    for await (const rows of this.#given.scan(table, scope)) {
      const done: Values[] = [];
      for (const row of rows) {
        const orgId = textOf(row[org]);
        if (this.organizations.includes(orgId)) continue;
        if (isFixed) {
          const kept = this.#row(table, orgId, row);
          if (kept !== null) done.push(kept);
        } else {
          const next = JSON.stringify(fixed.map((position) => row[position]));
          if (next !== name) done.push(...this.#swept(table, group));
          if (next !== name) group = [];
          name = next;
          group.push(row);
        }
      }
      if (done.length > 0) yield done;
    }
    if (group.length > 0) yield this.#swept(table, group);
  }

  #swept(table: AnyTable, group: readonly Values[]): readonly Values[] {
    const [first] = group;
    if (first === undefined) return group;
    const org = columnsOf(table).indexOf('org_id');
    return sweptTable(table, group, this.#passer(table, textOf(first[org]))).after;
  }

  #row(table: AnyTable, orgId: string, before: Values): Values | null {
    const row = this.#passer(table, orgId)(before);
    if (row === null || table !== exportUnits) return row;
    const contentOf = this.#contents.get(unitKeyText(orgId, String(streamOf(row)), String(dayOf(row))));
    return contentOf === undefined ? row : rewrittenRow(row, contentOf.digest).with(rowCount, contentOf.rows);
  }

  #passer(table: AnyTable, orgId: string): (row: Values) => Values | null {
    const name = `${table.name} ${orgId}`;
    const known = this.#passers.get(name) ?? this.#newPasser(table, this.#peopleOf(orgId));
    this.#passers.set(name, known);
    return known;
  }

  #newPasser(table: AnyTable, people: PeopleKeptOut): (row: Values) => Values | null {
    const pass = this.#passed(table, withoutPeople(people).othersOf(table));
    // The plan of an erasure that was interrupted names the person until everything is swept.
    return table === exportState ? (row) => (nameOf(row) === ERASURE ? row : pass(row)) : pass;
  }

  #passed(table: AnyTable, replace: (row: Values) => Values): (row: Values) => Values | null {
    if (this.#gate === null) return replace;
    const pass = throughGate(this.#gate).rowsOf(table);
    return (row) => pass(replace(row));
  }

  /** Rows without an organization may be about anyone. */
  #peopleOf(orgId: string): PeopleKeptOut {
    const orgIds = orgId === '' ? [...new Set(this.#list.entries.map((entry) => entry.orgId))] : [orgId];
    const known = this.#people.get(orgId) ?? new PeopleKeptOut(this.#list, orgIds);
    this.#people.set(orgId, known);
    return known;
  }
}

/** The positions of the first columns of the key that no sweep changes. */
function fixedKeyOf(table: AnyTable): number[] {
  const columns: readonly string[] = columnsOf(table);
  const changing = new Set(textColumnsOf(table).map(({ name }) => name));
  changing.delete('date');
  if (table === quarantine) changing.add('record_sha256');
  const end = table.key.findIndex((name) => changing.has(name));
  return table.key.slice(0, end < 0 ? undefined : end).map((name) => columns.indexOf(name));
}

function unitKeyText(orgId: string, stream: string, day: string): string {
  return JSON.stringify([orgId, stream, day]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
