import type { AnyTable } from '../../../schema/define.ts';
import { keyOf } from '../../../schema/row.ts';
import { planCommit } from '../ledger-transitions.ts';
import {
  type CommitOutcome,
  type DayCommit,
  dayKey,
  type EncodedRows,
  type LedgerDay,
  rowCount,
  unitName,
  type Values,
} from '../port.ts';
import { decodeRows } from '../rows.ts';
import {
  noteDrift,
  readUnitRows,
  replaceQuarantine,
  sumsOf,
  writeRestatement,
  writeSettled,
} from './ledger.ts';
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
  removeKeys,
  tableIn,
} from './rows.ts';

/** The plan of a commit, see {@link planCommit}. */
interface DayPlan {
  readonly commit: DayCommit;
  readonly before: LedgerDay;
}

/**
 * Stores days of one organization, see `Warehouse.commitDays`. Call inside a transaction. The rows of all days are
 * written table by table, so that a group of small days needs as many statements as one day.
 */
export async function commitDays(link: Link, commits: readonly DayCommit[]): Promise<CommitOutcome[]> {
  const units = await readUnitRows(
    link,
    commits.map((commit) => dayKey(commit.orgId, commit)),
  );
  const plans = units.flatMap((before, index) => {
    const commit = commits[index];
    return commit === undefined ? [] : [planCommit(before, { ...commit, rows: rowCount(commit) })];
  });
  const changed = plans.filter(({ writesRows }) => writesRows);
  const restated = changed.filter((plan) => plan.restated);
  const before = await sumsBefore(link, restated);
  const written = await writeContent(
    link,
    changed.map(({ commit }) => commit),
  );
  await noteRestatements(link, restated, before);
  await replaceQuarantine(link, commits);
  for (const commit of commits) await noteDrift(link, commit, commit.drift, commit.day);
  const settled = await writeSettled(
    link,
    plans.map(({ after, commit }) => ({ unit: after, rule: commit.rule, isCommitted: true })),
  );
  return plans.map(({ commit, restated }) => ({
    rowsWritten: written(commit),
    restated,
    units: settled.filter(({ day }) => day === commit.day),
  }));
}

/** Makes the rows of each unit those of its commit. Returns a function that counts the rows written for a commit. */
async function writeContent(
  link: Link,
  commits: readonly DayCommit[],
): Promise<(commit: DayCommit) => number> {
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
      const removed = await removeKeys(link, table, gone);
      count(unitName(only.commit), removed + (await put(link, part)));
      continue;
    }
    const stream = only?.commit.stream ?? '';
    const days = [...(await removeDays(link, table, gone)), ...(await putDays(link, part))];
    for (const day of days) count(`${stream} ${day}`, 1);
  }
  return (commit) => counts.get(unitName(commit)) ?? 0;
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

async function sumsBefore(link: Link, restated: readonly DayPlan[]): Promise<string[]> {
  const sums: string[] = [];
  for (const { commit, before } of restated) sums.push(await sumsOfUnit(link, commit, before.contentSha256));
  return sums;
}

async function noteRestatements(
  link: Link,
  restated: readonly DayPlan[],
  sums: readonly string[],
): Promise<void> {
  for (const [index, { commit, before }] of restated.entries()) {
    const after = await sumsOfUnit(link, commit, commit.contentSha256);
    await writeRestatement(link, before, commit.pulledAt, { before: sums[index] ?? '{}', after });
  }
}

function sumsOfUnit(link: Link, commit: DayCommit, contentSha256: string | null): Promise<string> {
  const specs = commit.tables.map(({ table }) => table);
  const scope = { conditions: ['"org_id" = $1', '"date" = $2'], values: [commit.orgId, commit.day] };
  return sumsOf(link, specs, scope, contentSha256);
}
