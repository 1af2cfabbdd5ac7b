import type { UtcDay } from '../../core/day.ts';
import { isDay, shiftDay } from '../../core/day.ts';
import { groupBy } from '../../core/group-by.ts';
import type { PersonRow } from '../../warehouse/rollups/people-digest.ts';
import { compareText, OPEN_END } from '../../warehouse/rollups/resolve-people.ts';

/** A period in which a person now has another team than before. */
export interface Move {
  readonly person: string;
  readonly valid_from: string;
  /** NULL if it has no end. */
  readonly valid_to: string | null;
  readonly from_team: string | null;
  readonly to_team: string | null;
}

/** What differs between the people stored before and those loaded now, each person counted once. */
export interface PeopleChanges {
  readonly added: number;
  readonly removed: number;
  /** People with another team than before on some day. */
  readonly moved: number;
  /** People of whom something else differs. */
  readonly changed: number;
  readonly unchanged: number;
  /** In the order of people and days. */
  readonly moves: readonly Move[];
}

/** Compares two sets of people. */
export function changesOf(before: readonly PersonRow[], after: readonly PersonRow[]): PeopleChanges {
  const old = groupBy(before, ({ person }) => person);
  const loaded = groupBy(after, ({ person }) => person);
  const counts = { added: 0, removed: 0, moved: 0, changed: 0, unchanged: 0 };
  const moves: Move[] = [];
  for (const person of [...new Set([...old.keys(), ...loaded.keys()])].toSorted(compareText)) {
    const [from, to] = [old.get(person) ?? [], loaded.get(person) ?? []];
    const moved = movesOf(person, from, to);
    moves.push(...moved);
    counts[kindOf(from, to, moved)] += 1;
  }
  return { ...counts, moves };
}

function kindOf(
  from: readonly PersonRow[],
  to: readonly PersonRow[],
  moves: readonly Move[],
): Exclude<keyof PeopleChanges, 'moves'> {
  if (from.length === 0) return 'added';
  if (to.length === 0) return 'removed';
  if (moves.length > 0) return 'moved';
  return textOf(from) === textOf(to) ? 'unchanged' : 'changed';
}

/** Equal for equal rows, in any order. */
function textOf(rows: readonly PersonRow[]): string {
  const texts = rows.map((row) =>
    JSON.stringify([
      row.valid_from,
      row.valid_to,
      row.name,
      row.team,
      row.department,
      row.cost_center,
      row.manager_email,
    ]),
  );
  return texts.toSorted(compareText).join('\n');
}

function movesOf(person: string, from: readonly PersonRow[], to: readonly PersonRow[]): Move[] {
  const moves: Move[] = [];
  const starts = startsOf([...from, ...to]);
  for (const [index, day] of starts.entries()) {
    const [was, is] = [rowOn(day, from), rowOn(day, to)];
    if (was === undefined || is === undefined || was.team === is.team) continue;
    const next = starts[index + 1];
    const valid_to = next === undefined ? null : shiftDay(next, -1);
    const last = moves.at(-1);
    const continues =
      last !== undefined &&
      last.from_team === was.team &&
      last.to_team === is.team &&
      last.valid_to !== null &&
      isDay(last.valid_to) &&
      shiftDay(last.valid_to, 1) === day;
    if (continues) moves.splice(-1, 1, { ...last, valid_to });
    else moves.push({ person, valid_from: day, valid_to, from_team: was.team, to_team: is.team });
  }
  return moves;
}

/** The days on which one of the rows begins, or has just ended. */
function startsOf(rows: readonly PersonRow[]): UtcDay[] {
  const days = new Set<UtcDay>();
  for (const { valid_from, valid_to } of rows) {
    if (isDay(valid_from)) days.add(valid_from);
    if (isDay(valid_to) && valid_to < OPEN_END) days.add(shiftDay(valid_to, 1));
  }
  return [...days].toSorted(compareText);
}

function rowOn(day: string, rows: readonly PersonRow[]): PersonRow | undefined {
  return rows.find(({ valid_from, valid_to }) => valid_from <= day && (valid_to ?? OPEN_END) >= day);
}
