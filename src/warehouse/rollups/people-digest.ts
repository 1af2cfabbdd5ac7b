import { contentSha256 } from '../../../schema/digest.ts';
import { type SQL, sql } from '../../../schema/query.ts';
import { encoderOf, type RowOf } from '../../../schema/row.ts';
import { tables } from '../../../schema/tables.ts';
import type { QueryRow, Steps } from '../queries.ts';

/** A row of `people`. */
export type PersonRow = RowOf<typeof tables.people>;

const encode = encoderOf(tables.people);

/** Reads the people of an organization in key order. */
export function* readPeople(orgId: string): Steps<readonly PersonRow[]> {
  return peopleOf(orgId, yield selectPeople(orgId));
}

/** The rows that {@link peopleOf} takes. */
export function selectPeople(orgId: string): SQL {
  return sql`
    SELECT person, valid_from, valid_to, name, team, department, cost_center, manager_email
    FROM people WHERE org_id = ${orgId}`;
}

/** People in key order. */
export function peopleOf(orgId: string, rows: readonly QueryRow[]): readonly PersonRow[] {
  return rows.map((row) => personOf(orgId, row)).toSorted(inKeyOrder);
}

/** The digest of people in key order, by which their change is noticed. */
export function peopleSha256(people: readonly PersonRow[]): string {
  return contentSha256([{ table: tables.people, rows: people.map(encode) }]);
}

function personOf(orgId: string, row: QueryRow): PersonRow {
  return {
    org_id: orgId,
    person: String(row['person']),
    valid_from: String(row['valid_from']),
    valid_to: labelOf(row, 'valid_to'),
    name: labelOf(row, 'name'),
    team: labelOf(row, 'team'),
    department: labelOf(row, 'department'),
    cost_center: labelOf(row, 'cost_center'),
    manager_email: labelOf(row, 'manager_email'),
  };
}

function labelOf(row: QueryRow, name: string): string | null {
  const value = row[name] ?? null;
  return value === null ? null : String(value);
}

/** The databases sort text differently, so the order is made here. */
function inKeyOrder(a: PersonRow, b: PersonRow): number {
  if (a.person !== b.person) return a.person < b.person ? -1 : 1;
  return a.valid_from < b.valid_from ? -1 : 1;
}
