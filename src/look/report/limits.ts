import { type SQL, sql } from '../../../schema/query.ts';
import { shiftDay, type UtcDay } from '../../core/day.ts';
import { DaywalkError, UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { MetricRow, Period } from '../../metrics/index.ts';
import type { QueryRow, Warehouse } from '../../port/index.ts';
import { type Limits, namelessOf, type PeopleDimension, type Viewer } from '../audience.ts';
import type { PageReader } from '../reader.ts';

/** What the pages of a report ask while nothing is merged yet. */
interface Asked {
  readonly spans: readonly Period[];
  readonly dimensions: ReadonlySet<PeopleDimension>;
}

/**
 * Decides what readers other than managers may see, so that no number of a report, and no sum or difference of its numbers
 * about one dimension, is about fewer than `minGroup` people.
 * @param reader a reader of the whole organization; nothing that it reads is shown.
 * @param ask builds the pages within given limits, and returns what they ask.
 * @throws {UsageError} if the organization itself is too small in the period.
 */
export async function decideLimits(
  reader: PageReader,
  minGroup: number,
  ask: (limits: Limits) => Promise<Asked>,
): Promise<{ readonly limits: Limits; readonly spans: readonly Period[] }> {
  for (const weeks of [true, false]) {
    const { spans, dimensions } = await ask({ weeks, shown: null });
    const stretches = stretchesOf(spans);
    const teams = await readPeople(reader, 'team', stretches);
    const everybody = mergePeople([...teams.values()]);
    const sizes = stretches.map((_, index) => everybody[index]?.size ?? 0);
    if (isCoarseEnough(spans, sizes, minGroup)) {
      const shown = new Map<PeopleDimension, ReadonlySet<string>>();
      for (const dimension of new Set<PeopleDimension>(['team', ...dimensions])) {
        const groups = dimension === 'team' ? teams : await readPeople(reader, dimension, stretches);
        shown.set(dimension, decideShown(groups, spans, minGroup));
      }
      return { limits: { weeks, shown }, spans };
    }
  }
  const { from, until } = reader.filters;
  throw new UsageError(
    `from ${from} to ${until}, or in a part of it, fewer than ${minGroup} people were active, so nothing can be shown`,
    { hint: 'choose a longer period' },
  );
}

/** The people of a group in each stretch, in the order of the stretches. */
export type PeopleByStretch = readonly ReadonlySet<string>[];

/**
 * Decides which groups may be shown alone when all others are merged into one: each group that is shown, and the merged
 * one, is about `min` people at least in every sum and difference of the published spans. The largest groups stay. None is
 * shown if that is impossible.
 */
export function decideShown(
  groups: ReadonlyMap<string, PeopleByStretch>,
  spans: readonly Period[],
  min: number,
): ReadonlySet<string> {
  const passes = (people: PeopleByStretch) =>
    isCoarseEnough(
      spans,
      people.map(({ size }) => size),
      min,
    );
  const bySize = [...groups].toSorted(
    ([one, a], [other, b]) => union([a]) - union([b]) || (one < other ? -1 : 1),
  );
  const shown = bySize.filter(([, people]) => passes(people));
  const merged = bySize.filter(([, people]) => !passes(people)).map(([, people]) => people);
  while (merged.length > 0 && !passes(mergePeople(merged))) {
    const smallest = shown.shift();
    if (smallest === undefined) break;
    merged.push(smallest[1]);
  }
  return new Set(shown.map(([name]) => name));
}

/** The people of several groups together; who was in more than one counts once. */
export function mergePeople(groups: readonly PeopleByStretch[]): PeopleByStretch {
  const length = Math.max(0, ...groups.map((people) => people.length));
  return Array.from(
    { length },
    (_, index) => new Set(groups.flatMap((people) => [...(people[index] ?? [])])),
  );
}

function union(groups: readonly PeopleByStretch[]): number {
  return new Set(groups.flat().flatMap((people) => [...people])).size;
}

/**
 * A stretch of days between two neighbours among the days on which a published span begins, or after which one ends. The
 * stretches are the finest parts that readers could compute by adding and subtracting spans.
 */
type Stretch = Period;

/** The stretches of published spans, in order. */
export function stretchesOf(spans: readonly Period[]): Stretch[] {
  const points = [...new Set(spans.flatMap(({ from, until }) => [from, dayAfter(until)]))].toSorted();
  return points.slice(1).flatMap((next, index) => {
    const from = points[index];
    return from === undefined ? [] : { from, until: shiftDay(next, -1) };
  });
}

/**
 * True if no sum and no difference of the published spans is about fewer than `min` people, unless it is about nobody.
 *
 * A published span is the change of the running total between two days. Readers know the change between two days if a
 * chain of spans leads from one to the other. So the days form islands, and each stretch is a bridge between islands or
 * stays on one. Whatever readers can compute runs around a circle of such stretches. It is about few people only if each
 * stretch of the circle is, so it is enough that the stretches with few people form no circle.
 * @param peopleIn the number of distinct people in each stretch, in the order of {@link stretchesOf}.
 */
export function isCoarseEnough(spans: readonly Period[], peopleIn: readonly number[], min: number): boolean {
  const islands = new Islands();
  for (const { from, until } of spans) islands.join(from, dayAfter(until));
  const stretches = stretchesOf(spans).map(({ from, until }, index) => ({
    ends: [from, dayAfter(until)] as const,
    people: peopleIn[index] ?? 0,
  }));
  // Where nobody was active, the running total is known not to change.
  for (const { ends, people } of stretches) if (people === 0) islands.join(...ends);
  return stretches
    .filter(({ people }) => people > 0 && people < min)
    .every(({ ends }) => islands.join(...ends));
}

/** Which days are known to be on one island. */
class Islands {
  readonly #parents = new Map<UtcDay, UtcDay>();

  /** Joins the islands of two days. False if they were one island already. */
  join(one: UtcDay, other: UtcDay): boolean {
    const [first, second] = [this.#of(one), this.#of(other)];
    this.#parents.set(first, second);
    return first !== second;
  }

  #of(day: UtcDay): UtcDay {
    const parent = this.#parents.get(day) ?? day;
    return parent === day ? day : this.#of(parent);
  }
}

function dayAfter(day: UtcDay): UtcDay {
  return shiftDay(day, 1);
}

/** Reads the distinct people of each group of a dimension in each stretch. Call inside the snapshot of the report. */
export async function readPeople(
  reader: PageReader,
  dimension: PeopleDimension,
  stretches: readonly Stretch[],
): Promise<Map<string, PeopleByStretch>> {
  const groups = new Map<string, Set<string>[]>();
  for (const [index, stretch] of stretches.entries()) {
    for (const row of await readRows(reader, dimension, stretch)) {
      const user = row['user'];
      if (typeof user !== 'string') continue;
      const name = String(row[dimension] ?? namelessOf(dimension));
      const people = groups.get(name) ?? stretches.map(() => new Set<string>());
      people[index]?.add(user);
      groups.set(name, people);
    }
  }
  return groups;
}

async function readRows(
  reader: PageReader,
  dimension: PeopleDimension,
  stretch: Stretch,
): Promise<readonly (QueryRow | MetricRow)[]> {
  const title = 'people of a group';
  if (dimension === 'model' || dimension === 'tier') {
    return reader.warehouse.select(modelUsers(reader.filters.orgId, dimension, stretch));
  }
  const metric = dimension === 'language' ? 'language_users' : 'active_users';
  const { rows } = await reader.ask({
    metric,
    title,
    by: [dimension, 'user'],
    countsEach: true,
    team: 'everybody',
    ...stretch,
  });
  return rows;
}

/** No metric knows who used a model. */
function modelUsers(orgId: string, dimension: 'model' | 'tier', { from, until }: Stretch) {
  const column = sql.raw(dimension === 'model' ? 'model_id' : 'model_tier');
  return sql`SELECT DISTINCT ${column} AS ${sql.raw(dimension)}, user_id AS "user"
FROM tokens_daily_by_user_model
WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until} ORDER BY 1, 2`;
}

/** A report holds what its audience must not see. Exit code 1: the pages should have left it out. Nothing was written. */
class SecretFoundError extends DaywalkError {
  constructor(name: string, kind: string) {
    super(`${name} holds ${kind}, which its readers must not see; it was not written`, {
      exitCode: EXIT.defect,
      effect: 'run',
      hint: 'if a team, tool, skill or server is named after a person, rename it or write the report for managers; otherwise this is a defect, please report it',
    });
  }
}

/**
 * The last check before a document is written.
 * @throws {SecretFoundError} if it holds what its readers must not see.
 */
export function expectNoSecret(
  documents: readonly { readonly name: string; readonly text: string }[],
  secrets: readonly Secrets[],
): void {
  for (const { name, text } of documents) {
    const found = findSecret(text, secrets);
    if (found !== null) throw new SecretFoundError(name, found.kind);
  }
}

/** Texts of a warehouse that an audience must not see, by what they are. */
export interface Secrets {
  readonly kind: string;
  readonly texts: readonly string[];
}

/** Reads what the viewer must not see: user IDs, email addresses and names; for the public also commands and reports. */
export async function readSecrets(
  warehouse: Pick<Warehouse, 'select'>,
  { audience }: Viewer,
): Promise<readonly Secrets[]> {
  if (audience === 'managers') return [];
  const wanted = audience === 'public' ? [...PEOPLE, ...DETAILS] : PEOPLE;
  const secrets: Secrets[] = [];
  for (const { kind, query } of wanted) {
    const rows = await warehouse.select(query);
    secrets.push({ kind, texts: rows.flatMap(({ text }) => (typeof text === 'string' ? text : [])) });
  }
  return secrets;
}

// Of every organization in the warehouse: a text of another one must not be in the file either.
const PEOPLE: readonly { readonly kind: string; readonly query: SQL }[] = [
  {
    kind: 'a user ID',
    query: sql`SELECT DISTINCT user_id AS text FROM user_daily
UNION SELECT DISTINCT user_id FROM tokens_daily_by_user
UNION SELECT DISTINCT user_id FROM tokens_daily_by_user_model
UNION SELECT DISTINCT user_id FROM user_daily_languages
UNION SELECT DISTINCT person FROM people`,
  },
  {
    kind: 'an email address',
    query: sql`SELECT DISTINCT user_email AS text FROM user_daily WHERE user_email IS NOT NULL
UNION SELECT DISTINCT user_email FROM tokens_daily_by_user WHERE user_email IS NOT NULL
UNION SELECT DISTINCT manager_email FROM people WHERE manager_email IS NOT NULL`,
  },
  {
    kind: 'the name of a person',
    query: sql`SELECT DISTINCT name AS text FROM people WHERE name IS NOT NULL`,
  },
];

const DETAILS: readonly { readonly kind: string; readonly query: SQL }[] = [
  { kind: 'the command of a hook', query: sql`SELECT DISTINCT command AS text FROM tools_daily_by_hook` },
  {
    kind: 'a rationale',
    query: sql`SELECT DISTINCT rationale AS text FROM readiness_report_criteria WHERE rationale IS NOT NULL`,
  },
  {
    kind: 'the URL of a repository',
    query: sql`SELECT DISTINCT repo_url AS text FROM readiness_reports WHERE repo_url IS NOT NULL`,
  },
];

/** Shorter texts occur by chance. */
const CHARACTERS_MIN = 6;
/** A number of fewer digits can be a count of something. */
const DIGITS_MIN = 10;
/** Pages cut long texts; so much of one is enough to find it. */
const CHARACTERS_COMPARED = 60;

/**
 * Looks for texts that must not be in a document, whatever their case. Returns the first one's kind; null if there is none.
 *
 * Texts that are ordinary words are not looked for: they would stop reports in which nobody is named. So a text counts if it
 * has {@link CHARACTERS_MIN} characters and something besides letters; one of digits alone needs {@link DIGITS_MIN}.
 */
function findSecret(html: string, secrets: readonly Secrets[]): { readonly kind: string } | null {
  const text = plainText(html);
  const byStart = new Map<string, { readonly wanted: string; readonly kind: string }[]>();
  for (const { kind, texts } of secrets) {
    for (const secret of texts) {
      if (!isTelling(secret)) continue;
      const wanted = secret.toLowerCase().trim().slice(0, CHARACTERS_COMPARED);
      const start = wanted.slice(0, CHARACTERS_MIN);
      const known = byStart.get(start);
      if (known === undefined) byStart.set(start, [{ wanted, kind }]);
      else known.push({ wanted, kind });
    }
  }
  for (let index = 0; index + CHARACTERS_MIN <= text.length; index += 1) {
    const candidates = byStart.get(text.slice(index, index + CHARACTERS_MIN));
    const found = candidates?.find(({ wanted }) => text.startsWith(wanted, index));
    if (found !== undefined) return { kind: found.kind };
  }
  return null;
}

/** True for a text that is no ordinary word. */
function isTelling(secret: string): boolean {
  const text = secret.trim();
  if (/^\d+$/.test(text)) return text.length >= DIGITS_MIN;
  return text.length >= CHARACTERS_MIN && !/^\p{L}+$/u.test(text);
}

/** The text of a document as people and programs read it, in lower case: without character references, with single quotes. */
function plainText(html: string): string {
  return html
    .replaceAll(/&#(\d+);/g, (_, code: string) => characterOf(Number(code)))
    .replaceAll(/&#x([\da-f]+);/gi, (_, code: string) => characterOf(Number.parseInt(code, 16)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&apos;', "'")
    .replaceAll('&nbsp;', '\u00a0')
    .replaceAll('&amp;', '&')
    .replaceAll("''", "'")
    .toLowerCase();
}

function characterOf(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
