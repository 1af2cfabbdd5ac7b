import { types } from 'pg';
import { canonicalText } from '../../core/json-text.ts';
import type { Value } from '../port.ts';

const { BOOL, INT4, INT8, FLOAT8, NUMERIC, TIMESTAMPTZ, JSONB } = types.builtins;
const INSTANT = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})(?:\.(\d{1,6}))?\+00$/;

/** Converts an instant of PostgreSQL in UTC to `YYYY-MM-DDTHH:MM:SS.sssZ`. */
function instantOf(text: string): string {
  const [, day, time, fraction = ''] = INSTANT.exec(text) ?? [];
  // A value that another program wrote, such as infinity, is returned unchanged.
  return day === undefined ? text : `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`;
}

const PARSERS: Readonly<Record<number, (text: string) => Value>> = {
  [BOOL]: (text) => (text === 't' ? 1 : 0),
  [INT4]: Number,
  [INT8]: Number,
  [FLOAT8]: Number,
  [NUMERIC]: Number,
  [TIMESTAMPTZ]: instantOf,
  [JSONB]: canonicalText,
};

const asText = (text: string): Value => text;

/** Converts values of PostgreSQL into values of rows: everything but numbers and flags becomes text. */
export const valueTypes = {
  getTypeParser: (oid: number) => PARSERS[oid] ?? asText,
};
