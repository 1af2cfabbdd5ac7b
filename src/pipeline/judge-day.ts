import type { AnyTable } from '../../schema/define.ts';
import { decodedChunks } from '../../schema/digest.ts';
import { activityColumns, activityTest, keyOf, type Values } from '../../schema/row.ts';
import { tables, tablesOf } from '../../schema/tables.ts';
import {
  areLeavers,
  isDue,
  type Loss,
  lossOf,
  parseDoubt,
  type StandingDoubt,
  weighLoss,
} from '../judge/doubt.ts';
import { equalLooks, LOOKS, withLook } from '../judge/looks.ts';
import { parseNotes } from '../judge/notes.ts';
import type { Warehouse } from '../port/index.ts';
import type { DayCommit, LedgerUnit } from '../units/index.ts';

/** Whether an answer is believed. */
type Verdict =
  | { readonly kind: 'believe' }
  /** The day must be requested alone. */
  | { readonly kind: 'request-alone' }
  /** The day must be requested alone, after this run has pulled `daily_active_users`. */
  | { readonly kind: 'request-later' }
  | { readonly kind: 'doubt'; readonly doubt: StandingDoubt };

/** The facts by which an answer is judged. */
interface Judgement {
  readonly warehouse: Pick<Warehouse, 'rowsOf'>;
  /** The unit in the ledger. */
  readonly known: LedgerUnit;
  /** Records of the unit in quarantine that name no key. */
  readonly setAside: number;
  /** Users whose records are in quarantine, and who are not stored: they came. */
  readonly absentUsers: number;
  /** `daily_active_users` of the day; null if it is not known. */
  readonly active: number | null;
  /** This run has yet to pull that figure. */
  readonly isActiveDue: boolean;
  /** Accept a loss that is no larger than the doubted one. */
  readonly acceptsLoss: boolean;
  readonly now: Date;
  /** Called with the user before the first who has probably left, '' if there is none, when that is first seen. */
  readonly onLeavers: (before: string) => void;
}

const BELIEVE: Verdict = { kind: 'believe' };

/** Decides whether a day may be stored as it was answered. Reads the stored rows only if the content would change. */
export async function judgeDay(commit: DayCommit, against: Judgement): Promise<Verdict> {
  const { known, acceptsLoss, now } = against;
  if (known.rows === 0 || known.contentSha256 === commit.contentSha256) return BELIEVE;
  const loss = await lossIn(commit, against);
  if (loss === null) return BELIEVE;
  const isOfUsers = loss.rule === 'loss-of-users' || loss.rule === 'leaver';
  if (isOfUsers && against.isActiveDue) return { kind: 'request-later' };
  const standing = parseDoubt(known.doubt, known.doubtedAt);
  // Users who leave are gone after three looks, like any other change.
  const looks = withLook(parseNotes(known.watch), commit.contentSha256, now);
  const isSeen = loss.rule === 'leaver' && equalLooks(looks, commit.contentSha256) >= LOOKS;
  const isDecisive = standing === null || acceptsLoss || isSeen || isDue(standing, now);
  if (!commit.isOwn && isDecisive) return { kind: 'request-alone' };
  if (isSeen) return BELIEVE;
  const weighed = weighLoss(standing, loss, { now, acceptsLoss });
  return weighed.verdict === 'accept' ? BELIEVE : { kind: 'doubt', doubt: weighed.doubt };
}

async function lossIn(
  commit: DayCommit,
  { warehouse, active: known, isActiveDue, setAside, absentUsers, known: unit, onLeavers }: Judgement,
): Promise<Loss | null> {
  // This run will learn how many users were active. Until then, any missing user may be a loss.
  const active = isActiveDue ? Number.POSITIVE_INFINITY : known;
  const present = new Set<string>();
  for (const part of commit.tables) {
    const keyOf = activeKeys(part.table);
    for (const rows of decodedChunks(part)) for (const row of rows) addTo(present, keyOf(row));
  }
  const missing: number[] = [];
  let stored = 0;
  let kept = 0;
  let before: string | undefined;
  let last = '';
  for (const table of countedTables(commit.stream)) {
    for (const name of await storedKeys(warehouse, table, commit)) {
      if (present.has(name)) kept += 1;
      else {
        before ??= last;
        missing.push(stored);
      }
      last = name;
      stored += 1;
    }
  }
  const added = present.size - kept + absentUsers;
  const isNew = commit.stream === 'users' && unit.doubt === null;
  if (isNew && before !== undefined && areLeavers({ gone: missing.length - setAside, stored, added }))
    onLeavers(before === '' ? '' : userOf(before));
  const users = commit.stream === 'users' ? { answered: commit.activeUsers ?? 0, added, active } : undefined;
  return lossOf({ missing, stored, setAside, ...(users && { users }) });
}

function addTo(set: Set<string>, name: string | null): void {
  if (name !== null) set.add(name);
}

/** The tables whose rows count: for `users` the users, otherwise all tables with numbers. */
function countedTables(stream: string): readonly AnyTable[] {
  if (stream === 'users') return [tables.userDaily];
  return tablesOf(stream).filter((table) => activityColumns(table).length > 0);
}

/** The user in the name of a row, see {@link activeKeys}. */
function userOf(name: string): string {
  const key: unknown = JSON.parse(name);
  return Array.isArray(key) ? String(key.at(-1)) : '';
}

/** Names a row of a table by its key; null for one without activity. */
function activeKeys(table: AnyTable): (row: Values) => string | null {
  const isActive = activityTest(table);
  const key = keyOf(table);
  return (row) => (isActive(row) ? JSON.stringify([table.name, ...key(row)]) : null);
}

async function storedKeys(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  table: AnyTable,
  { orgId, day }: DayCommit,
): Promise<string[]> {
  const keyOf = activeKeys(table);
  const rows = await warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
  return rows.flatMap((row) => keyOf(row) ?? []);
}
