import { contentSha256 } from '../../schema/digest.ts';
import { type SQL, sql } from '../../schema/query.ts';
import { encoderOf, type RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { isDay, type UtcDay } from '../core/day.ts';
import type { QueryRow, Steps } from '../port/index.ts';
import type { StoredDay } from './calendar.ts';

/** A row of `people`. */
export type PersonRow = RowOf<typeof tables.people>;

const encode = encoderOf(tables.people);

/** The rows that {@link peopleOf} takes. */
export function selectPeople(orgId: string): SQL {
  return sql`
    SELECT person, valid_from, valid_to, name, team, department, cost_center, manager_email
    FROM people WHERE org_id = ${orgId}`;
}

/** People in key order. */
function peopleOf(orgId: string, rows: readonly QueryRow[]): readonly PersonRow[] {
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

/** The rollups that carry marks: `user_weekly`; the tables by month; `users` with `user_teams`; `team_daily`; `team_model_daily`. */
export const MARKED_ROLLUPS = ['weekly', 'monthly', 'users', 'teams', 'models'] as const;

/** One of {@link MARKED_ROLLUPS}. */
export type MarkedRollup = (typeof MARKED_ROLLUPS)[number];

/** The stream whose units a rollup is computed from. */
export function streamOf(rollup: MarkedRollup): 'users' | 'tokens' {
  return rollup === 'models' ? 'tokens' : 'users';
}

/** The units that a rollup is computed from. */
export function storedOf({ stored, tokens }: Pick<Standing, 'stored' | 'tokens'>, rollup: MarkedRollup) {
  return streamOf(rollup) === 'users' ? stored : tokens;
}

/** The `date` of the mark that holds the digest of the people. */
export const PEOPLE_MARK = '';

/** The digest of no people, which needs no mark. */
const NO_PEOPLE = peopleSha256([]);

/** What the ledger holds of an organization, and what its rollups were computed from. */
export interface Standing {
  /** The units of `users` in order of their days. */
  readonly stored: readonly StoredDay[];
  /** Those of `tokens`. */
  readonly tokens: readonly StoredDay[];
  /** By rollup: the days whose content differs from what the rollup was computed from. */
  readonly stale: Readonly<Record<MarkedRollup, readonly UtcDay[]>>;
  readonly people: readonly PersonRow[];
  /** The people differ from those that `users` was computed from. */
  readonly isPeopleStale: boolean;
  /** `users` and the rollups by month were computed from the same content of the days. */
  readonly isOneState: boolean;
  /** The newest loaded day: what "today" means in `users`. Null if no day has rows. */
  readonly today: UtcDay | null;
}

/** True if `users` and `user_teams` were computed from the people and days that are stored. */
export function isUsersCurrent({ stale, isPeopleStale }: Standing): boolean {
  return stale.users.length === 0 && !isPeopleStale;
}

/** Reads the standing of an organization's rollups. All steps must see the same state of the database. */
export function* readStanding(orgId: string): Steps<Standing> {
  const units = yield sql`
    SELECT stream, date, rows, content_sha256 FROM export_units
    WHERE org_id = ${orgId} AND stream IN ('users', 'tokens') AND content_sha256 IS NOT NULL ORDER BY date`;
  const marks = yield sql`SELECT rollup, date, content_sha256 FROM rollup_marks WHERE org_id = ${orgId}`;
  const people = yield selectPeople(orgId);
  const known = computed.get(units);
  if (known !== undefined && known.marks === marks && known.people === people) return known.standing;
  const standing = standingOf(units, marks, peopleOf(orgId, people));
  computed.set(units, { marks, people, standing });
  return standing;
}

/**
 * Standings by the very rows that they were computed from. Hashing the people takes longer than most queries, and a
 * warehouse that remembers its answers gives the same rows for every question of a page.
 */
const computed = new WeakMap<
  readonly QueryRow[],
  { readonly marks: readonly QueryRow[]; readonly people: readonly QueryRow[]; readonly standing: Standing }
>();

/** Compares the ledger with the marks. Rows that this version cannot read are left out; `verify` reports them. */
function standingOf(
  units: readonly QueryRow[],
  marks: readonly QueryRow[],
  people: readonly PersonRow[],
): Standing {
  const unitsOf = (own: 'users' | 'tokens') =>
    units.flatMap(({ stream, date, rows, content_sha256 }) =>
      stream === own && isDay(date)
        ? [{ day: date, rows: Number(rows), contentSha256: String(content_sha256) }]
        : [],
    );
  const [stored, tokens] = [unitsOf('users'), unitsOf('tokens')];
  const marked: Record<MarkedRollup, Map<unknown, unknown>> = {
    weekly: new Map(),
    monthly: new Map(),
    users: new Map(),
    teams: new Map(),
    models: new Map(),
  };
  for (const { rollup, date, content_sha256 } of marks) {
    const name = MARKED_ROLLUPS.find((known) => known === rollup);
    if (name !== undefined) marked[name].set(date, content_sha256);
  }
  return {
    stored,
    tokens,
    stale: {
      weekly: staleDays(stored, marked.weekly),
      monthly: staleDays(stored, marked.monthly),
      users: staleDays(stored, marked.users),
      teams: staleDays(stored, marked.teams),
      models: staleDays(tokens, marked.models),
    },
    people,
    isPeopleStale: (marked.users.get(PEOPLE_MARK) ?? NO_PEOPLE) !== peopleSha256(people),
    isOneState: [...marked.users.keys(), ...marked.monthly.keys()].every(
      (date) => date === PEOPLE_MARK || marked.users.get(date) === marked.monthly.get(date),
    ),
    today: stored.findLast(({ rows }) => rows > 0)?.day ?? null,
  };
}

/** The days whose mark is missing or differs, and those whose mark has no unit any more. */
function staleDays(stored: readonly StoredDay[], marks: ReadonlyMap<unknown, unknown>): UtcDay[] {
  const known = new Set<unknown>(stored.map(({ day }) => day));
  const changed = stored.filter(({ day, contentSha256 }) => marks.get(day) !== contentSha256);
  const gone = [...marks.keys()].filter((day) => !known.has(day));
  return [...changed.map(({ day }) => day), ...gone.filter(isDay)];
}
