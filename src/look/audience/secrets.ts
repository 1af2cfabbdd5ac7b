import { type SQL, sql } from '../../../schema/query.ts';
import type { Warehouse } from '../../warehouse/port.ts';
import type { Viewer } from './audience.ts';

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
