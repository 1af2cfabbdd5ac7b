import { randomUUID } from 'node:crypto';
import { encoderOf, type TableRows } from './row.ts';
import { tables } from './tables.ts';

const encode = encoderOf(tables.acts);

/**
 * The step that notes an act: what the service cannot give back. It belongs into the transaction of what was done: an archive that
 * has heard of the act then knows an older copy of the warehouse by its absence.
 * @param kind what was done, in a word for messages: a loaded table, or `erasure`, `hook events`, `sessions`, `quarantine`, `restore`.
 */
export function actStep(kind: string, at: Date): TableRows {
  return {
    table: tables.acts,
    rows: [encode({ act_id: randomUUID(), kind, done_at: at.toISOString() })],
  };
}
