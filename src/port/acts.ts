import { randomUUID } from 'node:crypto';
import { encoderOf, type TableRows } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';

/** What the service cannot give back. */
export const ACT_KINDS = [
  'erasure',
  'people',
  'prices',
  'budgets',
  'sessions',
  'hook events',
  'quarantine',
  'restore',
] as const;

/** A kind of acts. */
export type ActKind = (typeof ACT_KINDS)[number];

const encode = encoderOf(tables.acts);

/**
 * The step that notes an act. It belongs into the transaction of what was done: an archive that has heard of the act then knows an
 * older copy of the warehouse by its absence.
 */
export function actStep(kind: ActKind, at: Date): TableRows {
  return {
    table: tables.acts,
    rows: [encode({ act_id: randomUUID(), kind, done_at: at.toISOString() })],
  };
}
