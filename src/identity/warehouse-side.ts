import { sql } from '../../schema/query.ts';
import { encoderOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { parseJson } from '../core/json.ts';
import { listedMarks, PULL } from '../marks/index.ts';
import { runReads, type Steps, type Warehouse } from '../port/index.ts';
import { MARKS_MAX, type Marks, type Remembered, rememberedIn, type Sides } from './meeting.ts';
import { type Identity, readIdentitySteps } from './own-identity.ts';

/** An archive that a warehouse has met. */
export interface KnownArchive {
  readonly id: string;
  /** Where it was last met. */
  readonly place: string;
  readonly remembered: Remembered;
  /** ISO instants. */
  readonly firstMetAt: string;
  readonly lastMetAt: string;
  /** When a person said that it is no longer expected; null while it is. */
  readonly endedAt: string | null;
}

const encode = encoderOf(tables.archives);

/** The archives that a warehouse has met, the last one first. */
export function readKnownArchives(warehouse: Pick<Warehouse, 'select'>): Promise<KnownArchive[]> {
  return runReads(warehouse, knownArchives());
}

function* knownArchives(): Steps<KnownArchive[]> {
  const rows = yield sql`SELECT * FROM archives ORDER BY last_met_at DESC, archive_id`;
  return rows.map((row) => ({
    id: String(row['archive_id']),
    place: String(row['place']),
    remembered: rememberedIn({ marks: parsed(row['marks']), lost: parsed(row['lost']) }),
    firstMetAt: String(row['first_met_at']),
    lastMetAt: String(row['last_met_at']),
    endedAt: typeof row['ended_at'] === 'string' ? row['ended_at'] : null,
  }));
}

function parsed(text: unknown): unknown {
  return typeof text === 'string' ? parseJson(text) : undefined;
}

/** What a warehouse says of itself and of an archive. */
export interface WarehouseSide {
  readonly identity: Identity | null;
  readonly side: Sides['warehouse'];
  readonly archives: readonly KnownArchive[];
}

/**
 * Reads one side of a comparison. Writes nothing.
 * @param archive the ID of the archive, and where it is.
 */
export function readWarehouseSide(
  warehouse: Pick<Warehouse, 'select'>,
  archive: { readonly id: string | null; readonly place: string } | null,
): Promise<WarehouseSide> {
  return runReads(
    warehouse,
    (function* (): Steps<WarehouseSide> {
      const identity = yield* readIdentitySteps();
      const archives = yield* knownArchives();
      const expected = archives.filter(({ endedAt }) => endedAt === null);
      const here = expected.filter(({ place }) => place === archive?.place);
      const side = {
        id: identity?.id ?? null,
        parents: identity?.parents ?? [],
        isCopy: identity?.madeBy === 'copy',
        isNew: identity === null && (yield* isUnused()),
        expected: [...new Set([...here, ...expected])].map(({ id }) => id),
        remembered: archives.find(({ id }) => id === archive?.id)?.remembered ?? null,
      };
      return { identity, side, archives };
    })(),
  );
}

function* isUnused(): Steps<boolean> {
  const runs = yield sql`SELECT run_id FROM export_runs LIMIT 1`;
  const units = yield sql`SELECT org_id FROM export_units LIMIT 1`;
  return runs.length + units.length === 0;
}

/** Which of these marks a warehouse has. */
export async function marksHeld(
  warehouse: Pick<Warehouse, 'select'>,
  marks: readonly string[],
): Promise<Set<string>> {
  if (marks.length === 0) return new Set();
  const list = sql.join(
    marks.map((mark) => sql`${mark}`),
    sql`, `,
  );
  const rows = await warehouse.select(
    sql`SELECT run_id AS mark FROM export_runs WHERE run_id IN (${list})
      UNION ALL SELECT act_id FROM acts WHERE act_id IN (${list})`,
  );
  return new Set(rows.map(({ mark }) => String(mark)));
}

/**
 * The last marks of a warehouse. All of them are durable in it. Runs before the first one that stored anything have no mark. Where no
 * order is listed, that of the instants counts.
 */
export async function newestMarks(warehouse: Pick<Warehouse, 'select'>): Promise<Marks> {
  const runs = await warehouse.select(
    sql`SELECT ${PULL} AS kind, run_id AS mark FROM export_runs
      WHERE EXISTS (SELECT 1 FROM export_units WHERE state NOT IN ('pending', 'failed')) ORDER BY started_at DESC, run_id DESC LIMIT ${MARKS_MAX}`,
  );
  const acts = await warehouse.select(
    sql`SELECT kind, act_id AS mark FROM (
      SELECT kind, act_id, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY done_at DESC, act_id) AS place FROM acts
    ) AS newest WHERE place <= ${MARKS_MAX} ORDER BY kind, place`,
  );
  const listed = await runReads(warehouse, listedMarks());
  const held = await marksHeld(warehouse, Object.values(listed).flat());
  const known = Map.groupBy([...runs, ...acts], ({ kind }) => String(kind));
  const kinds = [...known].map(([kind, rows]) => {
    const own = (listed[kind] ?? []).filter((mark) => held.has(mark));
    const marks = [...own, ...rows.map(({ mark }) => String(mark))];
    return [kind, [...new Set(marks)].slice(0, MARKS_MAX)] as const;
  });
  return Object.fromEntries(kinds);
}

/** Remembers an archive, after it has what is remembered of it. */
export async function noteArchive(
  warehouse: Pick<Warehouse, 'transact'>,
  { id, place, remembered, at }: Pick<KnownArchive, 'id' | 'place' | 'remembered'> & { readonly at: Date },
): Promise<void> {
  await warehouse.transact('note the archive in', function* () {
    const known = (yield* knownArchives()).find((archive) => archive.id === id);
    const row = encode({
      archive_id: id,
      place,
      marks: JSON.stringify(remembered.marks),
      lost: JSON.stringify(remembered.lost),
      first_met_at: known?.firstMetAt ?? at.toISOString(),
      last_met_at: at.toISOString(),
      ended_at: null,
    });
    yield { table: tables.archives, rows: [row] };
  });
}

/**
 * Notes that archives are no longer expected.
 * @param id one of them. @default all
 */
export async function endArchives(
  warehouse: Pick<Warehouse, 'transact'>,
  at: Date,
  id?: string,
): Promise<void> {
  const which = id === undefined ? sql`` : sql` AND archive_id = ${id}`;
  await warehouse.transact('note the end of an archive in', function* () {
    yield sql`UPDATE archives SET ended_at = ${at.toISOString()} WHERE ended_at IS NULL${which}`;
  });
}
