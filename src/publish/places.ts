import type { AnyTable } from '../../schema/define.ts';
import { readerOf } from '../../schema/row.ts';
import { StorageError } from '../core/errors.ts';
import type { Values } from '../warehouse/port.ts';
import { monthColumnOf, pathOf } from './lake/names.ts';

/** The partition of an organization and month in a table that is not by day. */
export interface Place {
  readonly path: string;
  readonly orgId: string | null;
}

/** Returns a function that finds the place of a row: the same object for all rows of a partition. */
export function placesOf(table: AnyTable): (row: Values) => Place {
  const orgOf = readerOf(table, 'org_id');
  const instant = monthColumnOf(table);
  const instantOf = instant === null ? null : readerOf(table, instant);
  const known = new Map<string, Place>();
  return (row) => {
    const orgId = orgOf(row);
    const month = instantOf === null ? null : monthOfInstant(table, instantOf(row));
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
