import type { AnyTable } from '../../../schema/define.ts';
import { decodeRows, type EncodedRows } from '../../../schema/digest.ts';
import { keyOf, type Values } from '../../../schema/row.ts';
import { type DayCommit, unitName } from '../../units/index.ts';
import type { Link } from './link.ts';
import {
  copyRows,
  csvOfEncoded,
  isOpenToCopies,
  isWorthCopying,
  type Puttable,
  put,
  putDays,
  quoted,
  removeDays,
  removeRows,
  tableIn,
} from './write-rows.ts';

/**
 * Makes the rows of each day those of its commit, see `WrittenDays`. Returns how many rows were written for each. The rows of all
 * days are written table by table, so that a group of small days needs as many statements as one day.
 */
export async function writeDays(link: Link, commits: readonly DayCommit[]): Promise<number[]> {
  const counts = new Map<string, number>();
  const count = (name: string, rows: number) => counts.set(name, (counts.get(name) ?? 0) + rows);
  for (const [table, units] of byTable(commits)) {
    const part = toPuttable(table, units);
    const stored = await storedKeys(link, table, units);
    if (stored.length === 0 && isWorthCopying(part) && (await isOpenToCopies(link, table))) {
      await copyRows(link, part);
      for (const unit of units) count(unitName(unit.commit), unit.part.count);
      continue;
    }
    const gone = goneKeys(stored, table, units);
    const [only, ...others] = units;
    if (only !== undefined && others.length === 0) {
      const removed = await removeRows(link, { table, remove: gone });
      count(unitName(only.commit), removed + (await put(link, part)));
      continue;
    }
    const stream = only?.commit.stream ?? '';
    const days = [...(await removeDays(link, table, gone)), ...(await putDays(link, part))];
    for (const day of days) count(`${stream} ${day}`, 1);
  }
  return commits.map((commit) => counts.get(unitName(commit)) ?? 0);
}

type UnitPart = { readonly commit: DayCommit; readonly part: EncodedRows };

function toPuttable(table: AnyTable, units: readonly UnitPart[]): Puttable {
  return {
    table,
    count: units.reduce((sum, { part }) => sum + part.count, 0),
    rows: () => rowsOf(units),
    csv: function* () {
      for (const { commit, part } of units) yield* csvOfEncoded(part, commit.orgId);
    },
  };
}

function rowsOf(units: readonly UnitPart[]): Values[] {
  return units.flatMap(({ part }) => decodeRows(part).rows);
}

function byTable(commits: readonly DayCommit[]): Map<AnyTable, UnitPart[]> {
  const groups = new Map<AnyTable, UnitPart[]>();
  for (const commit of commits) {
    for (const part of commit.tables) {
      const group = groups.get(part.table);
      if (group === undefined) groups.set(part.table, [{ commit, part }]);
      else group.push({ commit, part });
    }
  }
  return groups;
}

/** The keys of the stored rows of units. */
function storedKeys(link: Link, table: AnyTable, units: readonly UnitPart[]): Promise<Values[]> {
  return link.query(
    `SELECT ${table.key.map(quoted).join(', ')} FROM ${tableIn(link, table)} ` +
      'WHERE "org_id" = $1 AND "date" = ANY ($2::date[])',
    [units[0]?.commit.orgId ?? '', units.map(({ commit }) => commit.day)],
  );
}

/** The stored keys that the answers no longer contain. */
function goneKeys(stored: readonly Values[], table: AnyTable, units: readonly UnitPart[]): readonly Values[] {
  if (stored.length === 0) return [];
  const key = keyOf(table);
  const kept = new Set(rowsOf(units).map((row) => JSON.stringify(key(row))));
  return stored.filter((values) => !kept.has(JSON.stringify(values)));
}
