import { tablesOf } from '../../../schema/tables.ts';
import type { Expected } from './expected-rows.ts';
import type { Aside } from './rules.ts';
import { expectedTexts, type Held, normal } from './stored.ts';

/** Whether an answer takes away so much of what is stored that it must be doubted, or may be. */
export type Loss = 'none' | 'possible' | 'certain';

const TRAILING = ['weekly_active_users', 'monthly_active_users'];

/**
 * Holds an answer against what is stored: all rows with activity gone, more than half of twenty or more, or a user, where
 * fewer are left than were active. Of how many were active there may be several words, by the activity before and after.
 */
export function lossOf(
  stream: string,
  held: Held,
  { rows, aside }: { readonly rows: Expected; readonly aside: readonly Aside[] },
  active: readonly number[],
): Loss {
  // A quarantined record counts as a row, unless it is about another day. Equal records are kept once.
  const own = aside.filter(({ isForeign }) => isForeign !== true);
  const counts = [own.length, new Set(own.map(({ value }) => normal(value))).size];
  const [most, fewest] = counts.map((count) => lossBeside(stream, held, { rows, aside: count }, active));
  return most === fewest && most !== undefined ? most : 'possible';
}

function lossBeside(
  stream: string,
  held: Held,
  answer: { readonly rows: Expected; readonly aside: number },
  active: readonly number[],
): Loss {
  const stored = activeKeys(stream, held.rows);
  const answered = new Set(activeKeys(stream, expectedTexts(answer.rows)));
  const gone = stored.filter((key) => !answered.has(key)).length - answer.aside;
  if (gone <= 0) return 'none';
  if (gone >= stored.length || (stored.length >= 20 && gone > stored.length / 2)) return 'certain';
  if (stream !== 'users') return 'none';
  const users = answered.size + answer.aside;
  const words = active.map((count) => users < Math.floor(count));
  if (words.length > 0 && words.every(Boolean)) return 'certain';
  return words.some(Boolean) ? 'possible' : 'none';
}

/** The rows with activity, of users the users only, each by its key. */
function activeKeys(stream: string, rows: readonly string[]): string[] {
  return rows.flatMap((text) => {
    const { table, row } = rowIn(text);
    const known = tablesOf(stream).find(({ name }) => name === table);
    if (known === undefined || (stream === 'users' && table !== 'user_daily')) return [];
    const counts = Object.entries(known.columns).filter(
      ([name, { kind }]) => kind === 'metric' && !TRAILING.includes(name),
    );
    const isActive = counts.some(([name]) => (row.get(name) ?? 0) !== 0);
    const key = known.key.filter((name) => !['org_id', 'date'].includes(name)).map((name) => row.get(name));
    return isActive ? [JSON.stringify([table, ...key])] : [];
  });
}

/** Users that stored activity says were active. */
export function activeUsersIn({ rows }: Held): number[] {
  return rows.flatMap((text) => {
    const { table, row } = rowIn(text);
    const users = row.get('daily_active_users');
    return table === 'activity_daily' && typeof users === 'number' ? [users] : [];
  });
}

function rowIn(text: string): { table: string; row: ReadonlyMap<string, unknown> } {
  const end = text.indexOf(' ');
  return { table: text.slice(0, end), row: new Map(JSON.parse(text.slice(end + 1))) };
}
