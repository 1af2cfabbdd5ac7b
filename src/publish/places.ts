import type { AnyTable } from '../../schema/define.ts';
import { StorageError } from '../core/errors.ts';
import type { Row } from '../warehouse/port.ts';
import { monthColumnOf, pathOf } from './lake/names.ts';

/** The partition of an organization and month in a table that is not by day. */
export interface Place {
  readonly path: string;
  readonly orgId: string | null;
}

/** Returns a function that finds the place of a row: the same object for all rows of a partition. */
export function placesOf(table: AnyTable): (row: Row) => Place {
  const names = Object.keys(table.columns);
  const org = names.indexOf('org_id');
  const instant = names.indexOf(monthColumnOf(table) ?? '');
  const known = new Map<string, Place>();
  return (row) => {
    const orgId = row[org] ?? null;
    const month = instant < 0 ? null : monthOfInstant(table, row[instant]);
    const name = `${month ?? ''}/${orgId ?? ''}`;
    const place = known.get(name) ?? placeAt(table, orgId === null ? null : String(orgId), month);
    known.set(name, place);
    return place;
  };
}

function placeAt(table: AnyTable, orgId: string | null, month: string | null): Place {
  return { path: pathOf({ table, orgId, month }), orgId };
}

function monthOfInstant(table: AnyTable, value: unknown): string {
  const month = typeof value === 'string' ? /^\d{4}-\d{2}(?=-)/.exec(value)?.[0] : undefined;
  if (month !== undefined) return month;
  throw new StorageError(
    `publish ${table.name}: the warehouse has ${JSON.stringify(value)} instead of an instant`,
    { hint: 'another program has written to the warehouse; correct or delete the row' },
  );
}
