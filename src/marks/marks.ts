import { randomUUID } from 'node:crypto';
import { sql } from '../../schema/query.ts';
import { isObject, parseJson } from '../core/json.ts';
import type { Steps } from '../port/index.ts';

/** The kind of the marks that runs leave. What runs pull can be pulled again. */
export const PULL = 'pull';

/** The state of a warehouse that lists its last marks. */
export const LAST_MARKS = 'last-marks';
/** How many marks of a kind are listed: several workers may mark a warehouse at once. */
const LISTED_MAX = 4;

/**
 * Notes an act: what the service cannot give back. It belongs into the transaction of what was done: an archive that has heard of the
 * act then knows an older copy of the warehouse by its absence.
 * @param kind what was done, in a word for messages: a loaded table, `hook events`, `restore`, and the like.
 */
export function* noteAct(kind: string, at: Date): Steps<void> {
  const mark = randomUUID();
  yield sql`INSERT INTO acts (act_id, kind, done_at) VALUES (${mark}, ${kind}, ${at.toISOString()})`;
  yield* listMark(kind, mark);
}

/** Lists a mark as the last one of its kind. The order of instants is not enough: a clock may go back. */
export function* listMark(kind: string, mark: string): Steps<void> {
  yield { lock: [[LAST_MARKS]] };
  const listed = yield* listedMarks();
  const marks = { ...listed, [kind]: [mark, ...(listed[kind] ?? [])].slice(0, LISTED_MAX) };
  yield sql`INSERT INTO export_state (org_id, name, value) VALUES ('', ${LAST_MARKS}, ${JSON.stringify(marks)})
    ON CONFLICT (org_id, name) DO UPDATE SET value = excluded.value`;
}

/** The last marks of each kind, the newest first, as far as they are listed: earlier versions listed none, and a copy lists its own. */
export function* listedMarks(): Steps<Record<string, readonly string[]>> {
  const [row] = yield sql`SELECT value FROM export_state WHERE org_id = '' AND name = ${LAST_MARKS}`;
  const value = parseJson(String(row?.['value'] ?? '{}'));
  const kinds = Object.entries(isObject(value) ? value : {});
  return Object.fromEntries(
    kinds.map(([kind, marks]) => [kind, Array.isArray(marks) ? marks.map(String) : []]),
  );
}
