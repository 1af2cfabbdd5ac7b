import { FIRST_DAY } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { keepingOutToo } from '../kept-out/index.ts';
import { type Gate, isPseudonym } from '../privacy/index.ts';
import { type PersonRow, UNASSIGNED } from '../rollups/index.ts';
import { type CellParser, dayCell, fillable, Mistakes, optional, teamCell, textCell } from './csv-columns.ts';
import type { Storing } from './loaded-file.ts';
import { addOverlaps, addReversed, sortedByStart, storedEnd } from './periods.ts';
import type { CsvRow } from './read-csv.ts';
import type { RowOfLine } from './replace-rows.ts';

const ownTeamCell: CellParser<string> = (text) => {
  const name = teamCell(text);
  if (name.toLowerCase() !== UNASSIGNED) return name;
  throw new UsageError('means people without a team', {
    hint: 'leave the cell empty, or use another name',
  });
};

/** The columns of a file of people. */
export const peopleColumns = {
  user_id: optional(textCell),
  user_email: optional(textCell),
  team: fillable(ownTeamCell),
  name: optional(textCell),
  department: optional(textCell),
  cost_center: optional(textCell),
  manager_email: optional(textCell),
  valid_from: optional(dayCell),
  valid_to: optional(dayCell),
} as const;

type PeopleLine = CsvRow<typeof peopleColumns>;

/** A row of `people`, and the email address of its line as the policy stores it, also if the user ID is the key. */
export interface PersonOfLine extends RowOfLine<PersonRow> {
  readonly email: string | null;
}

/** The most periods of one person: a move on every working day for four years. */
const PERIODS_MAX = 1_000;

/**
 * Turns the lines of a file into rows, with no more of a person than the policy allows. Email addresses are stored in lower
 * case, so that two spellings are one person.
 * @throws {UsageError} that names file, line and remedy of every mistake.
 */
export function peopleOf(lines: readonly PeopleLine[], storing: Storing): PersonOfLine[] {
  const { orgId, gate, now } = storing;
  const read = () => readPeople(lines, storing);
  // For this file only: an address in a file may be a mistake.
  return keepingOutToo(gate, { orgId, emails: newAddressesOf(read()), at: now }, read);
}

function readPeople(lines: readonly PeopleLine[], storing: Storing): PersonOfLine[] {
  const mistakes = new Mistakes(storing.file);
  const people = lines.flatMap((line) => personOf(line, storing, mistakes) ?? []);
  for (const own of Map.groupBy(people, ({ row }) => row.person).values()) {
    const excess = own[PERIODS_MAX];
    if (excess !== undefined) {
      const message = `the person of this line has more than ${PERIODS_MAX} periods`;
      mistakes.add({ line: excess.line, message, hint: 'join periods in which nothing changes' });
    }
    addOverlaps(sortedByStart(own), mistakes, ({ first, later }) => ({
      message: `the same person as in line ${first.line}, and both lines are valid on ${later.row.valid_from}`,
      hint: 'end the earlier period with valid_to on the day before, or remove one of the lines',
    }));
  }
  mistakes.refuse();
  return people;
}

/** Addresses that stand beside the ID of somebody whom the gate keeps out: other lines may hold them alone. */
function newAddressesOf(people: readonly PersonOfLine[]): string[] {
  return people.flatMap(({ row, email }) =>
    isPseudonym(row.person) && email !== null && !isPseudonym(email) ? email : [],
  );
}

function personOf(
  { line, cells }: PeopleLine,
  { orgId, gate }: Storing,
  mistakes: Mistakes,
): PersonOfLine | null {
  for (const column of ['user_email', 'manager_email'] as const) {
    const value = cells[column];
    if (value === null || isEmail(value) || (gate.emails === 'hash' && HASHED.test(value))) continue;
    const message = `${column} "${value}" is not an email address`;
    mistakes.add({ line, message, hint: 'write it like ada@example.com, or leave it empty' });
  }
  const email = emailOf(cells.user_email, gate);
  const person = cells.user_id === null ? email : gate.userId(cells.user_id);
  if (person === null) {
    const message = 'the line has no user_id, and email addresses are not stored here';
    mistakes.add({ line, message, hint: 'give the user_id of each person' });
    return null;
  }
  const row: PersonRow = {
    org_id: orgId,
    person,
    valid_from: cells.valid_from ?? FIRST_DAY,
    valid_to: storedEnd(cells.valid_to),
    name: gate.keepsNames && !isPseudonym(person) ? textOf(cells.name, gate) : null,
    team: textOf(cells.team, gate),
    department: textOf(cells.department, gate),
    cost_center: textOf(cells.cost_center, gate),
    manager_email: emailOf(cells.manager_email, gate),
  };
  addReversed({ line, row }, mistakes);
  return { line, row, email };
}

function textOf(text: string | null, gate: Gate): string | null {
  return text === null ? null : gate.key(text);
}

function emailOf(email: string | null, gate: Gate): string | null {
  return email === null ? null : gate.email(email.toLowerCase());
}

/** An email address under a policy that hashes: an HMAC-SHA-256 in hexadecimal. */
const HASHED = /^[0-9a-f]{64}$/i;

/** True for what can be an email address: one @ between two texts without blanks. */
function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

/** The column of a file in which the key of a stored person is loaded again. */
export function keyColumnOf(person: string, isUser: (id: string) => boolean): 'user_id' | 'user_email' {
  return !isUser(person) && (isEmail(person) || HASHED.test(person)) ? 'user_email' : 'user_id';
}
