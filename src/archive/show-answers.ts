import type { Stream } from '../core/stream.ts';
import { readContents } from './answer-queries.ts';
import { type Answer, type Outcome, objectsOf, READINESS } from './answers.ts';
import { ArchiveFile, withArchive } from './archive-file.ts';
import { ObjectReader, splitRows } from './objects.ts';

/** An archived answer. */
export interface ShownAnswer {
  readonly orgId: string;
  /** When it was pulled, as an ISO instant. */
  readonly at: string;
  readonly runId: string;
  readonly emails: string;
  /** `believed` or `doubted`; null for steps of a readiness walk. */
  readonly verdict: string | null;
  readonly outcome: Outcome;
  /** Rows, or reports of a page. */
  readonly rows: number;
  /** SHA-256 of its rows; null if it has none, or several objects. */
  readonly object: string | null;
  /** SHA-256 of the content that was made of it; null for readiness. */
  readonly content: string | null;
}

/** Which answers to show. */
export interface ShownUnit {
  readonly stream: Stream;
  /** Null for readiness, which has no days. */
  readonly day: string | null;
}

/** The answers about a unit, oldest first, and the rows of the newest committed one. */
export interface ShownAnswers {
  readonly answers: readonly ShownAnswer[];
  /** JSON texts as they were received; null unless they are asked for. */
  readonly rows: readonly string[] | null;
}

/**
 * Finds what came about a unit, and when. Answers that cannot be read are left out.
 * @throws {UsageError} if there is no archive.
 * @throws {DamagedError} if the rows are asked for and cannot be read.
 */
export function showAnswers(
  archive: string,
  { stream, day, withRows }: ShownUnit & { readonly withRows: boolean },
): Promise<ShownAnswers> {
  const unit = day === null ? READINESS : `${stream} ${day}`;
  return withArchive(ArchiveFile.read(archive), async (file) => {
    const own = readContents(file)
      .answers.filter((answer) => answer.unit === unit)
      .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
    return {
      answers: own.map(shown),
      rows: withRows ? await rowsOf(file, own) : null,
    };
  });
}

/** The rows of the newest committed answer about a day. */
async function rowsOf(file: ArchiveFile, answers: readonly Answer[]): Promise<string[]> {
  const newest = answers.findLast((answer) => answer.kind === 'day' && answer.outcome === 'committed');
  const object = newest?.kind === 'day' ? newest.object : null;
  return object === null ? [] : splitRows(await new ObjectReader(file).get(object));
}

function shown(answer: Answer): ShownAnswer {
  const { org: orgId, at, run: runId, emails, outcome } = answer;
  const common = { orgId, at, runId, emails, outcome };
  if (answer.kind === 'day') {
    const { verdict, rows, object, content } = answer;
    return { ...common, verdict, rows, object, content };
  }
  const rows = answer.kind === 'page' ? answer.reports.length : 0;
  return { ...common, verdict: null, rows, object: null, content: null };
}

/** The rows of an answer that were looked for. */
interface FoundAnswer {
  readonly unit: string;
  /** When it was pulled, as an ISO instant. */
  readonly at: string;
  readonly runId: string;
  readonly outcome: Outcome;
  /** JSON texts as they were received. */
  readonly rows: readonly string[];
}

/**
 * Finds rows in all answers of an organization; none if nothing was written into the archive.
 * @throws {DamagedError} if rows cannot be read.
 */
export async function findAnswers(
  archive: string,
  orgId: string,
  isWanted: (row: string) => boolean,
): Promise<readonly FoundAnswer[]> {
  return withArchive(ArchiveFile.read(archive), async (file) => {
    const objects = new ObjectReader(file);
    const wanted = new Map<string, readonly string[]>();
    const found: FoundAnswer[] = [];
    for (const answer of readContents(file).answers.filter(({ org }) => org === orgId)) {
      const rows: string[] = [];
      for (const sha256 of objectsOf(answer)) {
        const known = wanted.get(sha256) ?? splitRows(await objects.get(sha256)).filter(isWanted);
        wanted.set(sha256, known);
        rows.push(...known);
      }
      const { unit, at, run: runId, outcome } = answer;
      if (rows.length > 0) found.push({ unit, at, runId, outcome, rows });
    }
    return found;
  });
}
