import { createHash } from 'node:crypto';
import type { AnyTable } from '../../../schema/define.ts';
import { type Invariant, invariantCheck, violationText } from '../../../schema/invariants.ts';
import {
  type ColumnOf,
  collectorOf,
  columnsOf,
  positionsOf,
  type RowOf,
  type Value,
  type Values,
} from '../../../schema/row.ts';
import { type ExactText, originalOf, type Rejected } from '../../checks/index.ts';
import { canonicalJson, isExact, isObject } from '../../core/json.ts';
import { canonicalText } from '../../core/json-text.ts';
import { DROPPED } from '../../privacy/index.ts';
import type { DayCommit, QuarantinedRecord } from '../../units/index.ts';

type Drift = DayCommit['drift'][number];

/** The address of a user, or NULL: where addresses are dropped, the answer says only that there was one. */
export function emailOf(user: { readonly user_email?: string | null | undefined }): string | null {
  return user.user_email === undefined || user.user_email === DROPPED ? null : user.user_email;
}

/** What normalizing a page needs besides its rows. */
export interface NormalizeContext {
  readonly orgId: string;
  readonly findings: Findings;
  /** Texts of the page that is normalized. */
  readonly exact: ExactText;
}

/** Columns that no record has as fields: they follow from the context. */
type FromContext = 'org_id' | 'extra';

/** The columns whose values are the record's fields of the same name. */
type Copied<T extends AnyTable, Given> = Exclude<ColumnOf<T>, Given | FromContext>;

/** The copied columns that may not be NULL. */
type Required<T extends AnyTable, Given> = {
  [Name in Copied<T, Given>]: null extends RowOf<T>[Name] ? never : Name;
}[Copied<T, Given>];

type Fields<T extends AnyTable, Given> = Pick<RowOf<T>, Required<T, Given>> & {
  readonly [Name in Exclude<Copied<T, Given>, Required<T, Given>>]?: RowOf<T>[Name] | undefined;
};

/** The copied columns that the shape of the record lacks. The compiler names them in its error. */
type Lacking<T extends AnyTable, Given, Shape> = Pick<RowOf<T>, Exclude<Copied<T, Given>, keyof Shape>>;

/** How the records of one list of an answer become rows of a table. */
interface MappingSpec<Given> {
  /** Path of the records in the answer, for example `data[].by_tool[]`. */
  readonly place: string;
  /** Columns that the caller computes. All others are copied from the record. @default [] */
  readonly given?: readonly Given[];
  /** Fields of a record that are known although they are not copied. @default [] */
  readonly known?: readonly string[];
}

/**
 * Turns a record into the values of a row. A field that is null or missing becomes NULL. Fields that are neither copied
 * nor known become `extra`, together with `nested`.
 */
type Mapping<T extends AnyTable, Given extends ColumnOf<T>> = <Shape extends Fields<T, Given>>(
  record: Shape & Lacking<T, Given, Shape>,
  given: Pick<RowOf<T>, Given>,
  context: NormalizeContext,
  nested?: Nested,
) => Values;

/**
 * Maps records to rows of a table by name: every column that is not given is the record's field of the same name. A new
 * column therefore needs its declaration, the field in the shape of the record, and no code here.
 *
 * @example
 * const rowOf = mapping(tables.productivityDailyByExtension, { place: 'data[].by_extension[]', given: ['date'] });
 * rowOf({ extension: '.ts', count: 3 }, { date: '2026-02-01' }, context);
 */
export function mapping<T extends AnyTable, Given extends ColumnOf<T> = never>(
  table: T,
  { place, given = [], known = [] }: MappingSpec<Given>,
): Mapping<T, Given> {
  const columns = columnsOf(table);
  const computed: ReadonlySet<string> = new Set(given);
  const fromContext: ReadonlySet<string> = new Set(['org_id', 'extra']);
  const sourceOf = (name: string) => (fromContext.has(name) ? 2 : Number(computed.has(name)));
  const copied = columns.filter((name) => sourceOf(name) === 0);
  const expected: ReadonlySet<string> = new Set([...copied, ...known]);
  const collect = collectorOf<[object, object, Record<FromContext, Value>]>(columns, sourceOf);
  const expectPossible = possibleRow(table);
  return (record, own, { orgId, findings, exact }, nested) => {
    const extra = findings.extra(record, expected, { place, exact }, nested);
    const row = collect(record, own, { org_id: orgId, extra });
    expectPossible(row, { findings, record, place, exact });
    return row;
  };
}

/** A row with the record that it was made from. */
interface MadeFrom extends Source {
  readonly findings: Findings;
  /** The object of the answer, or an object with one entry of a map. */
  readonly record: object;
  /** The row of the day, if a breakdown is compared with it. */
  readonly dayRow?: Values;
}

/** Compiles what every row of a table passes: a key with impossible values is held, one with unusual ones is noted. */
export function possibleRow(table: AnyTable): (row: Values, from: MadeFrom) => void {
  const impossibleIn = invariantCheck(table);
  const unusualIn = invariantCheck(table, 'unusual');
  return (row, from) => {
    const impossible = impossibleIn(row, from.dayRow);
    if (impossible !== null)
      from.findings.hold({ table, row }, { ...from, reason: violationText(impossible, row, from.dayRow) });
    const unusual = unusualIn(row, from.dayRow);
    if (unusual !== null) from.findings.noteUnusual(unusual, row, from.place);
  };
}

/** Maximum length of a sample in the drift table, in characters. */
const SAMPLE_CHARS_MAX = 200;

/** The place of a record in the schema of its answer, and the text of that answer. */
interface Source {
  readonly place: string;
  readonly exact: ExactText;
}

/** The unknown fields of an object inside a record, under the name of that object. */
interface Nested {
  readonly name: string;
  readonly text: string | null;
}

/** A row whose key keeps its stored rows, and those of every table whose keys begin with it. */
export interface HeldRow {
  readonly table: AnyTable;
  readonly row: Values;
}

/** Collects problems in the answers of a unit: records that cannot be stored, unknown fields and contradictions. */
export class Findings {
  readonly #quarantined = new Map<string, QuarantinedRecord>();
  /** Digests of records that are about something else. */
  readonly #foreign = new Set<string>();
  readonly #held: HeldRow[] = [];
  #isContradictory = false;
  readonly #drift = new Map<string, Drift>();
  readonly #warnings = new Set<string>();

  /** Quarantines a part of an answer, as the text that the service sent. */
  reject(part: Rejected, exact: ExactText): void {
    const { path, kind, reason } = part;
    const { text, recordSha256 } = this.#quarantine(sentText(part, exact), { reason, path });
    if (kind === 'foreign') this.#foreign.add(recordSha256);
    if (kind === 'wrong-type') this.#note(placeOf(path), 'wrong type', `${reason}: ${text}`);
  }

  /**
   * Quarantines a record that says something impossible, and holds the key of its row: the stored rows of the key stay, and
   * none of this answer are stored.
   */
  hold(held: HeldRow, { record, place, exact, reason }: Source & { record: object; reason: string }): void {
    const { table, row } = held;
    const original = originalOf(record);
    const path = exact.pathOf(original) ?? place;
    const sent = exact.textOf(original) ?? canonicalJson(record);
    const names = positionsOf(table, table.key)
      .map((position) => ({ name: columnsOf(table)[position] ?? '', value: row[position] ?? null }))
      .filter(({ name, value }) => name !== 'org_id' && value !== '');
    // A record that does not hold its whole key cannot be told from others like it.
    const isNamed = names.every(({ name, value }) => name === 'date' || isIn(record, value));
    const key = names.map(({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
    const text = isNamed ? sent : `{${[...key, `"record":${sent}`].join(',')}}`;
    this.#quarantine(text, { reason, path, isHeld: true });
    this.#held.push(held);
  }

  /** As {@link hold}, for a key that an answer names twice with different values. */
  holdContradiction(held: HeldRow, from: Source & { record: object; reason: string }): void {
    this.#isContradictory = true;
    this.hold(held, from);
  }

  /** Records a value that is possible, but outside the range in which it is expected. */
  noteUnusual(invariant: Invariant, row: Values, place: string): void {
    this.#note(`${place}.${invariant.column}`, 'new value', violationText(invariant, row));
  }

  /**
   * The fields of a record that are not in `known`, as canonical JSON text; null if there are none. Numbers that a
   * double cannot hold keep their digits.
   * @param nested unknown fields of an object in the record whose own fields became columns.
   */
  extra(record: object, known: ReadonlySet<string>, source: Source, nested?: Nested): string | null {
    let members: [name: string, text: string][] | undefined;
    for (const name in record) {
      if (known.has(name) || !Object.hasOwn(record, name)) continue;
      const value: unknown = Reflect.get(record, name);
      const text = isExact(value)
        ? canonicalJson(value)
        : canonicalText(source.exact.fieldText(originalOf(record), name) ?? 'null');
      members ??= [];
      members.push([name, text]);
      this.#note(`${source.place}.${name}`, 'unknown field', text);
    }
    if (nested !== undefined && nested.text !== null)
      members = [...(members ?? []), [nested.name, nested.text]];
    if (members === undefined) return null;
    // The object around it may have an unknown field with the name of the nested one. Every database keeps the last one.
    const sorted = [...new Map(members)].sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${sorted.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
  }

  /** Records a value that this version does not know in an open-ended enumeration. */
  expectOneOf(known: readonly string[], value: string | null | undefined, place: string): void {
    if (value === null || value === undefined || known.includes(value)) return;
    this.#note(place, 'new value', value);
  }

  /** Records a contradiction within the answers, and how it was resolved. */
  warn(text: string): void {
    this.#warnings.add(text);
  }

  /** Number of quarantined records that belong to what was requested: the answer has them, but not as rows. */
  get setAside(): number {
    return this.quarantined.filter(({ isHeld }) => isHeld !== true).length - this.#foreign.size;
  }

  /** The keys whose stored rows stay. */
  get held(): readonly HeldRow[] {
    return this.#held;
  }

  /** True if the answer names a key twice with different values. */
  get isContradictory(): boolean {
    return this.#isContradictory;
  }

  get quarantined(): QuarantinedRecord[] {
    return [...this.#quarantined.values()];
  }

  get drift(): Drift[] {
    return [...this.#drift.values()];
  }

  get warnings(): string[] {
    return [...this.#warnings];
  }

  #quarantine(text: string, about: Omit<QuarantinedRecord, 'record' | 'recordSha256'>) {
    const recordSha256 = createHash('sha256').update(text).digest('hex');
    this.#quarantined.set(recordSha256, { ...about, record: text, recordSha256 });
    return { text, recordSha256 };
  }

  #note(path: string, kind: Drift['kind'], sample: string): void {
    if (!this.#drift.has(path))
      this.#drift.set(path, { path, kind, sample: sample.slice(0, SAMPLE_CHARS_MAX).toWellFormed() });
  }
}

/** The text that the service sent of a rejected part. */
function sentText({ record, path }: Rejected, exact: ExactText): string {
  if (!isObject(record)) return exact.textAt(path) ?? JSON.stringify(record) ?? 'null';
  const own = exact.textOf(originalOf(record));
  if (own !== undefined) return own;
  // An entry of a map is not an object of the answer, so its name and value are put together.
  const [name = ''] = Object.keys(record);
  return `{${JSON.stringify(name)}:${exact.textAt(path) ?? canonicalJson(record[name])}}`;
}

function isIn(record: object, value: Value): boolean {
  return Object.keys(record).includes(String(value)) || Object.values(record).includes(value);
}

/** A path without its indices: the place in the schema. */
function placeOf(path: string): string {
  return path.replace(/\[\d+\]/g, '[]').replace(/\["(?:[^"\\]|\\.)*"\]/g, '[*]');
}
