import { type SQL, sql } from '../../../schema/query.ts';
import { DaywalkError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Warehouse } from '../../port/warehouse.ts';
import type { Viewer } from '../audience.ts';

/** A report holds what its audience must not see. Exit code 1: the pages should have left it out. Nothing was written. */
export class SecretFoundError extends DaywalkError {
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
export function findSecret(html: string, secrets: readonly Secrets[]): { readonly kind: string } | null {
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
export function isTelling(secret: string): boolean {
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
