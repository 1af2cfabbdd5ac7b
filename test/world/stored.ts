import Sqlite from 'better-sqlite3';
import { ERASED } from './published.ts';
import { dayOf, STREAMS, type Stream } from './truth.ts';

/** A unit as the ledger has it, and the text of its rows. */
export interface StoredUnit {
  readonly stream: Stream;
  readonly day: number;
  readonly state: string;
  readonly isSettled: boolean;
  readonly confirmed: string | null;
  readonly doubt: string | null;
  /** What runs noted about it for later ones. */
  readonly watch: string | null;
  readonly lastError: string | null;
  readonly text: string;
  /** How often it was stored anew with other content. */
  readonly restatements: number;
}

/** The organization that shares some warehouses. */
export const BESIDE_ORG_ID = 'org_z_beside';

/** What a warehouse holds of an organization. */
export interface Stored {
  /** Its ID; null while it has no unit. */
  readonly orgId: string | null;
  readonly units: readonly StoredUnit[];
  /** The numbers of the readiness reports. */
  readonly reports: readonly number[];
  /** Records in quarantine that count. */
  readonly quarantined: number;
  /** Reports that runs have missed. */
  readonly missingReports: number;
}

/** SQL that appends whole numbers, each after a blank. */
const whole = (...columns: readonly string[]) =>
  columns.map((column) => `|| ' ' || coalesce(cast(${column} AS integer), '')`).join(' ');

/** The rows of each stream as texts, one row each, as `textOf` writes them. */
const TEXTS: Readonly<Record<Stream, string>> = {
  users: `SELECT date, CASE WHEN user_id LIKE 'user_w%' THEN user_id ELSE '${ERASED}' END ${whole('sessions', 'tool_calls', 'files_created', 'billable_tokens')} AS text FROM user_daily d WHERE ORG`,
  tokens: `SELECT d.date, ''${whole('d.billable_tokens', 'sum(m.billable_tokens)')} AS text
    FROM tokens_daily d LEFT JOIN tokens_daily_by_model m USING (org_id, date) WHERE ORG GROUP BY d.org_id, d.date`,
  tools: `SELECT d.date, ''${whole('d.tool_calls', 'sum(t.invocations)')} AS text
    FROM tools_daily d LEFT JOIN tools_daily_by_tool t USING (org_id, date) WHERE ORG GROUP BY d.org_id, d.date`,
  activity: `SELECT d.date, ''${whole('d.daily_active_users', 'sum(c.daily_active_users)', 'd.sessions')} AS text
    FROM activity_daily d LEFT JOIN activity_daily_by_client c USING (org_id, date) WHERE ORG GROUP BY d.org_id, d.date`,
  productivity: `SELECT date, ''${whole('files_created')} AS text FROM productivity_daily d WHERE ORG`,
};

interface TextRow {
  readonly date: string;
  readonly text: string | null;
}

interface UnitRow {
  readonly org_id: string;
  readonly stream: string;
  readonly date: string;
  readonly state: string;
  readonly settled_at: string | null;
  readonly confirmed: string | null;
  readonly doubt: string | null;
  readonly watch: string | null;
  readonly last_error: string | null;
  readonly restatements: number;
}

const UNITS = `SELECT org_id, stream, date, state, settled_at, confirmed, doubt, watch, last_error,
  (SELECT count(*) FROM restatements r WHERE r.org_id = d.org_id AND r.stream = d.stream AND r.date = d.date) AS restatements
  FROM export_units d WHERE ORG`;

/** Reads an organization of a warehouse with SQL of its own; null if there is no warehouse. */
export function readStored(path: string, orgId?: string): Stored | null {
  const own = (query: string) =>
    query.replace('ORG', orgId === undefined ? `d.org_id <> '${BESIDE_ORG_ID}'` : `d.org_id = '${orgId}'`);
  const db = openIfThere(path);
  if (db === null) return null;
  try {
    const tables = db.prepare<[], { n: number }>(
      "SELECT count(*) AS n FROM sqlite_master WHERE name = 'export_units'",
    );
    if (tables.get()?.n !== 1) return null;
    const texts = new Map(STREAMS.map((stream) => [stream, textsOf(db, own(TEXTS[stream]))]));
    const units = db.prepare<[], UnitRow>(own(UNITS)).all();
    const quarantined = db
      .prepare<[], { n: number }>(
        own('SELECT count(*) AS n FROM quarantine d WHERE accepted_at IS NULL AND ORG'),
      )
      .get()?.n;
    const reports = db
      .prepare<[], { n: number }>(
        own('SELECT cast(substr(report_id, 8) AS integer) AS n FROM readiness_reports d WHERE ORG'),
      )
      .all()
      .map(({ n }) => n);
    const [missed] = db
      .prepare<[], { n: number }>(
        own(
          "SELECT json_extract(doubt, '$.rows') AS n FROM export_units d WHERE stream = 'readiness' AND doubt IS NOT NULL AND ORG",
        ),
      )
      .all();
    return {
      orgId: units[0]?.org_id ?? null,
      units: units.flatMap((row) => unitOf(row, texts)),
      reports,
      ...{ quarantined: quarantined ?? 0, missingReports: missed?.n ?? 0 },
    };
  } finally {
    db.close();
  }
}

function unitOf(row: UnitRow, texts: ReadonlyMap<Stream, ReadonlyMap<string, string>>): StoredUnit[] {
  const stream = STREAMS.find((name) => name === row.stream);
  if (stream === undefined) return [];
  const { state, confirmed, doubt, watch, restatements } = row;
  return [
    {
      ...{ stream, state, confirmed, doubt, watch, restatements },
      day: dayOf(row.date),
      isSettled: row.settled_at !== null,
      lastError: row.last_error,
      text: texts.get(stream)?.get(row.date) ?? '',
    },
  ];
}

function textsOf(db: Sqlite.Database, query: string): ReadonlyMap<string, string> {
  const days = new Map<string, string[]>();
  for (const { date, text } of db.prepare<[], TextRow>(query).all()) {
    const known = days.get(date) ?? [];
    known.push(text?.trim() ?? 'NULL');
    days.set(date, known);
  }
  return new Map([...days].map(([date, rows]) => [date, rows.toSorted().join(', ')]));
}

function openIfThere(path: string): Sqlite.Database | null {
  try {
    return new Sqlite(path, { fileMustExist: true });
  } catch {
    return null;
  }
}

/** The exit code of a replay into a new file: 5 if records are in quarantine there, because nobody has accepted them there. */
export function replayCode(path: string): number {
  return (readStored(path)?.quarantined ?? 0) > 0 ? 5 : 0;
}
