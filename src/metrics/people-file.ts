import { FIRST_DAY } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { type EmailPolicy, privacyOf } from '../privacy/email.ts';
import type { ErasedPeople } from '../privacy/erased-people.ts';
import { compareText, OPEN_END } from '../warehouse/rollups/resolve-people.ts';
import type { PersonRow } from '../warehouse/rollups/standing.ts';
import { type CellParser, dayCell, fillable, Mistakes, optional, textCell } from './csv-columns.ts';
import { UNASSIGNED } from './question.ts';
import type { CsvRow } from './read-csv.ts';

const teamCell: CellParser<string> = (text) => {
  if (text.toLowerCase() !== UNASSIGNED) return textCell(text);
  throw new UsageError('means people without a team', {
    hint: 'leave the cell empty, or use another name',
  });
};

/** The columns of a file of people. Every row needs a user ID or an email address. */
export const PEOPLE_FORMAT = {
  columns: {
    user_id: optional(textCell),
    user_email: optional(textCell),
    team: fillable(teamCell),
    name: optional(textCell),
    department: optional(textCell),
    cost_center: optional(textCell),
    manager_email: optional(textCell),
    valid_from: optional(dayCell),
    valid_to: optional(dayCell),
  },
  oneOf: ['user_email', 'user_id'],
} as const;

/** A row of a file of people. */
export type PeopleLine = CsvRow<typeof PEOPLE_FORMAT.columns>;

/** The columns of a written file, which can be loaded again. */
export const PEOPLE_COLUMNS = [
  'user_id',
  'user_email',
  'team',
  'name',
  'department',
  'cost_center',
  'manager_email',
  'valid_from',
  'valid_to',
] as const satisfies readonly (keyof typeof PEOPLE_FORMAT.columns)[];

/** A row of a written file. */
export type WrittenPerson = Readonly<Record<(typeof PEOPLE_COLUMNS)[number], string | null>>;

/** The most periods of one person: a move on every working day for four years. */
const PERIODS_MAX = 1_000;

/** A row of `people` and the line that it comes from. */
export interface PersonOfLine {
  readonly line: number;
  readonly row: PersonRow;
  /** The email address of the line as the policy stores it, also if the user ID is the key. */
  readonly email: string | null;
}

/** What the rows are made for. */
export interface StoringPeople {
  readonly orgId: string;
  /** The name of the file in messages. */
  readonly file: string;
  readonly emails: EmailPolicy;
  /** People who are stored under a pseudonym and without a name. @default nobody */
  readonly erased?: ErasedPeople | undefined;
}

/**
 * Turns the lines of a file into rows, with no more of a person than the policy allows. Email addresses are stored in lower
 * case, so that two spellings are one person.
 * @throws {UsageError} that names file, line and remedy of every mistake.
 */
export function peopleOf(lines: readonly PeopleLine[], storing: StoringPeople): PersonOfLine[] {
  const mistakes = new Mistakes(storing.file);
  const toStored = createEmailStorer(storing.emails);
  const people = lines.flatMap((line) => personOf(line, storing, toStored, mistakes) ?? []);
  addOverlaps(people, mistakes);
  mistakes.refuse();
  return people;
}

function personOf(
  { line, cells }: PeopleLine,
  { orgId, emails, erased }: StoringPeople,
  toStored: (email: string | null) => string | null,
  mistakes: Mistakes,
): PersonOfLine | null {
  for (const column of ['user_email', 'manager_email'] as const) {
    const value = cells[column];
    if (value === null || isEmail(value) || (emails.mode === 'hash' && isHashedEmail(value))) continue;
    const message = `${column} "${value}" is not an email address`;
    mistakes.add({ line, message, hint: 'write it like ada@example.com, or leave it empty' });
  }
  const email = toStored(cells.user_email);
  const person = cells.user_id ?? email;
  if (person === null) {
    const message = 'the line has no user_id, and email addresses are not stored here';
    mistakes.add({ line, message, hint: 'give the user_id of each person' });
    return null;
  }
  const valid_from = cells.valid_from ?? FIRST_DAY;
  if (cells.valid_to !== null && cells.valid_to < valid_from) {
    const message = `valid_to ${cells.valid_to} is before valid_from ${valid_from}`;
    mistakes.add({ line, message, hint: 'exchange the two days, or leave valid_to empty' });
  }
  const row: PersonRow = {
    org_id: orgId,
    person,
    valid_from,
    valid_to: cells.valid_to === OPEN_END ? null : cells.valid_to,
    name: emails.mode === 'keep' ? cells.name : null,
    team: cells.team,
    department: cells.department,
    cost_center: cells.cost_center,
    manager_email: toStored(cells.manager_email),
  };
  return erased === undefined ? { line, row, email } : withoutErased({ line, row, email }, erased);
}

function withoutErased({ line, row, email }: PersonOfLine, erased: ErasedPeople): PersonOfLine {
  const { person, name, manager_email: manager } = row;
  const stored = {
    person: erased.text(person, true),
    name: erased.isErased(person) ? null : name,
    manager_email: manager && erased.text(manager),
  };
  return { line, row: { ...row, ...stored }, email: email && erased.text(email) };
}

function createEmailStorer(policy: EmailPolicy): (email: string | null) => string | null {
  const privacy = privacyOf(policy);
  return (email) => {
    if (email === null) return null;
    const lower = email.toLowerCase();
    return policy.mode === 'hash' && isHashedEmail(lower) ? lower : privacy.email(lower);
  };
}

/** Finds lines for the same person whose periods share a day. */
function addOverlaps(people: readonly PersonOfLine[], mistakes: Mistakes): void {
  for (const lines of Map.groupBy(people, ({ row }) => row.person).values()) {
    const sorted = lines.toSorted(
      (a, b) => compareText(a.row.valid_from, b.row.valid_from) || a.line - b.line,
    );
    const excess = lines[PERIODS_MAX];
    if (excess !== undefined) {
      const message = `the person of this line has more than ${PERIODS_MAX} periods`;
      mistakes.add({ line: excess.line, message, hint: 'join periods in which nothing changes' });
    }
    for (const [index, later] of sorted.entries()) {
      const earlier = sorted[index - 1];
      if (earlier === undefined || (earlier.row.valid_to ?? OPEN_END) < later.row.valid_from) continue;
      const [first, second] = earlier.line < later.line ? [earlier, later] : [later, earlier];
      mistakes.add({
        line: second.line,
        message: `the same person as in line ${first.line}, and both lines are valid on ${later.row.valid_from}`,
        hint: 'end the earlier period with valid_to on the day before, or remove one of the lines',
      });
    }
  }
}

/** An email address under a policy that hashes: an HMAC-SHA-256 in hexadecimal. */
const HASHED = /^[0-9a-f]{64}$/i;

/** True for what can be an email address: one @ between two texts without blanks. */
export function isEmail(text: string): boolean {
  return /^[^\s@]+@[^\s@]+$/.test(text);
}

/** True for an email address as a policy that hashes stores it. */
export function isHashedEmail(text: string): boolean {
  return HASHED.test(text);
}

/** The column of a file in which the key of a stored person is loaded again. */
export function keyColumnOf(person: string, isUser: (id: string) => boolean): 'user_id' | 'user_email' {
  return !isUser(person) && (isEmail(person) || isHashedEmail(person)) ? 'user_email' : 'user_id';
}
