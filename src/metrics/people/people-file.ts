import { UsageError } from '../../core/errors.ts';
import { type CellParser, dayCell, fillable, optional, textCell } from '../csv/columns.ts';
import type { CsvRow } from '../csv/read-csv.ts';
import { UNASSIGNED } from '../find-filters.ts';

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
