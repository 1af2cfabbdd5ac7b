import type { Stream } from '../core/stream.ts';
import { contentsOf, type Outcome } from './contents.ts';
import type { AnswerLine } from './lines.ts';
import { withObjects } from './object-reader.ts';
import { readSoundIndex } from './read-archive.ts';
import { splitRows } from './rows-text.ts';

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
  /** JSON texts as they were received. */
  readonly rows: () => Promise<readonly string[]>;
}

/**
 * Finds what came about a unit, and when.
 * @throws {UsageError} if there is no archive.
 * @throws {StorageError} if its index is damaged.
 */
export async function showAnswers(folder: string, unit: ShownUnit): Promise<ShownAnswers> {
  const { answers, outcomeOf } = contentsOf(await readSoundIndex(folder));
  const own = answers
    .filter((line) => isOf(line, unit))
    .toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
  const newest = own.findLast((line) => line.kind === 'day' && outcomeOf(line) === 'committed');
  return {
    answers: own.map((line) => shown(line, outcomeOf(line))),
    rows: async () => {
      const object = newest?.kind === 'day' ? newest.object : null;
      return object === null ? [] : splitRows(await withObjects(folder, (objects) => objects.get(object)));
    },
  };
}

function isOf(line: AnswerLine, { stream, day }: ShownUnit): boolean {
  if (line.kind === 'day') return line.stream === stream && line.day === day;
  return stream === 'readiness';
}

function shown(line: AnswerLine, outcome: Outcome): ShownAnswer {
  const { org: orgId, at, run: runId, emails } = line;
  const common = { orgId, at, runId, emails, outcome };
  if (line.kind === 'day') {
    const { verdict, rows, object, content } = line;
    return { ...common, verdict, rows, object: object?.sha256 ?? null, content };
  }
  const rows = line.kind === 'page' ? line.reports.length : 0;
  return { ...common, verdict: null, rows, object: null, content: null };
}
