import type { AnyTable } from '../../schema/define.ts';
import { contentSha256 } from '../../schema/digest.ts';
import { columnsOf, readerOf } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import { DAILY_STREAMS, type Stream } from '../core/stream.ts';
import { type ErasedList, ErasedPeople } from '../privacy/erased-people.ts';
import { erasedOrganization } from '../warehouse/erased-list.ts';
import { rowSweeper, sweptTable, textColumnsOf } from '../warehouse/erased-rows.ts';
import { dateOf, type LedgerUnit, type ScanScope, type Values } from '../warehouse/port.ts';
import { inTurns, type Source } from './sides.ts';

const { exportUnits, quarantine } = tables;
const streamOf = readerOf(exportUnits, 'stream');
const dayOf = readerOf(exportUnits, 'date');
const CONTENT = columnsOf(exportUnits).indexOf('content_sha256');
const ANSWERS = columnsOf(exportUnits).indexOf('answers_sha256');

/** Reads a warehouse as it would be after an erasure that it does not know. It reads everything once in advance. */
export class ErasedUnits {
  readonly #given: Source;
  readonly #list: ErasedList;
  readonly #people = new Map<string, ErasedPeople>();
  readonly #erasers = new Map<string, (row: Values) => Values>();
  /** The digests of units that change. */
  readonly #contents = new Map<string, string>();
  /** Erased organizations that the source has. */
  readonly organizations: readonly string[];

  private constructor(given: Source, list: ErasedList, organizations: readonly string[]) {
    this.#given = given;
    this.#list = list;
    this.organizations = organizations;
  }

  static async read(given: Source, list: ErasedList, signal: AbortSignal): Promise<ErasedUnits> {
    const stored = await given.organizations();
    const erased = stored.filter((orgId) => erasedOrganization(list, orgId) !== undefined);
    const units = new ErasedUnits(given, list, erased);
    for (const orgId of await units.source.organizations())
      for (const stream of [...DAILY_STREAMS, 'readiness'] as const)
        await units.#readStream(orgId, stream, signal);
    return units;
  }

  /** Addresses that were found with an erased ID and are not on the list. */
  get learned(): readonly { readonly orgId: string; readonly value: string }[] {
    return [...this.#people].flatMap(([orgId, { learned }]) =>
      orgId === '' ? [] : learned.map((value) => ({ orgId, value })),
    );
  }

  /** The warehouse without the erased. */
  get source(): Source {
    const { location } = this.#given;
    return {
      location,
      organizations: async () =>
        (await this.#given.organizations()).filter((orgId) => !this.organizations.includes(orgId)),
      units: async (orgId, streams) =>
        (await this.#given.units(orgId, streams)).map((unit) => this.#unit(unit)),
      scan: (table, scope) => this.#rows(table, scope),
    };
  }

  async #readStream(orgId: string, stream: Stream, signal: AbortSignal): Promise<void> {
    const changed = new Set<UtcDay | ''>();
    for (const table of tablesOf(stream)) {
      const date = columnsOf(table).indexOf('date');
      const erase = this.#eraser(table, orgId);
      for await (const rows of inTurns(this.#given.scan(table, { orgId }), signal)) {
        for (const row of rows) {
          if (erase(row) === row) continue;
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
      this.#contents.set(nameOf(orgId, stream, day), contentSha256(content));
    }
  }

  #unit(unit: LedgerUnit): LedgerUnit {
    const contentOf = this.#contents.get(nameOf(unit.orgId, unit.stream, dateOf(unit)));
    return contentOf === undefined ? unit : { ...unit, contentSha256: contentOf, answersSha256: null };
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
        if (isFixed) done.push(this.#row(table, orgId, row));
        else {
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
    return sweptTable(table, group, this.#eraser(table, textOf(first[org]))).after;
  }

  #row(table: AnyTable, orgId: string, before: Values): Values {
    const row = this.#eraser(table, orgId)(before);
    if (table !== exportUnits) return row;
    const contentOf = this.#contents.get(nameOf(orgId, String(streamOf(row)), String(dayOf(row))));
    return contentOf === undefined ? row : row.with(CONTENT, contentOf).with(ANSWERS, null);
  }

  #eraser(table: AnyTable, orgId: string): (row: Values) => Values {
    const name = `${table.name} ${orgId}`;
    const known = this.#erasers.get(name) ?? rowSweeper(table, this.#peopleOf(orgId));
    this.#erasers.set(name, known);
    return known;
  }

  /** Rows without an organization may be about anyone. */
  #peopleOf(orgId: string): ErasedPeople {
    const orgIds = orgId === '' ? [...new Set(this.#list.entries.map((entry) => entry.orgId))] : [orgId];
    const known = this.#people.get(orgId) ?? new ErasedPeople(this.#list, orgIds);
    this.#people.set(orgId, known);
    return known;
  }
}

/** The positions of the first columns of the key that no erasure changes. */
function fixedKeyOf(table: AnyTable): number[] {
  const columns: readonly string[] = columnsOf(table);
  const changing = new Set(textColumnsOf(table).map(({ name }) => name));
  changing.delete('date');
  if (table === quarantine) changing.add('record_sha256');
  const end = table.key.findIndex((name) => changing.has(name));
  return table.key.slice(0, end < 0 ? undefined : end).map((name) => columns.indexOf(name));
}

function nameOf(orgId: string, stream: string, day: string): string {
  return JSON.stringify([orgId, stream, day]);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
