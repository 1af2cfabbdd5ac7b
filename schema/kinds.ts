import type { ColumnKind } from './define.ts';

/** The type of each kind of column in a database, as its migrations have it. */
export const SQL_TYPES = {
  key: { sqlite: 'TEXT', postgres: 'text' },
  day: { sqlite: 'TEXT', postgres: 'date' },
  text: { sqlite: 'TEXT', postgres: 'text' },
  label: { sqlite: 'TEXT', postgres: 'text' },
  metric: { sqlite: 'REAL', postgres: 'double precision' },
  integer: { sqlite: 'INTEGER', postgres: 'bigint' },
  count: { sqlite: 'INTEGER', postgres: 'bigint' },
  flag: { sqlite: 'INTEGER', postgres: 'boolean' },
  instant: { sqlite: 'TEXT', postgres: 'timestamptz' },
  moment: { sqlite: 'TEXT', postgres: 'timestamptz' },
  json: { sqlite: 'TEXT', postgres: 'jsonb' },
  record: { sqlite: 'TEXT', postgres: 'json' },
} as const satisfies Record<ColumnKind, { sqlite: string; postgres: string }>;

const NULLABLE: ReadonlySet<ColumnKind> = new Set(['label', 'metric', 'integer', 'flag', 'moment', 'json']);

/** True where a column of this kind may be NULL. */
export function isNullable(kind: ColumnKind): boolean {
  return NULLABLE.has(kind);
}
