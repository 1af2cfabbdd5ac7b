import { originalOf, type Rejected } from '../contract/row-check.ts';
import { UnitError } from '../core/errors.ts';
import type { AnalyticsPage, Meta } from './pages.ts';

/*
 * What one answer must be to be believed, apart from its shape. A run and the client refuse the same answers; what a run
 * already knows and stores is judged elsewhere.
 */

/**
 * The range of days that an answer names in place of the requested one, as text; null if it names the requested range, or
 * none (specification, section 2.4).
 */
export function otherRange({ start_date, end_date }: Meta, first: string, last: string): string | null {
  if (!isOther(start_date, first) && !isOther(end_date, last)) return null;
  return `${start_date ?? '?'} to ${end_date ?? '?'}`;
}

function isOther(named: string | null | undefined, requested: string): boolean {
  return named !== null && named !== undefined && named !== requested;
}

/** Rejects valid rows of a page that are about days that were not asked for. */
export function rejectOtherDays(
  rows: readonly { readonly date: string }[],
  page: Pick<AnalyticsPage, 'data'>,
  { first, last }: { readonly first: string; readonly last: string },
): Rejected[] {
  if (rows.length === 0) return [];
  const asked = first === last ? `${first} was` : `${first} to ${last} were`;
  const places = new Map(page.data.map((row, index) => [row, index]));
  return rows.map((record) => ({
    record,
    path: `data[${places.get(originalOf(record))}]`,
    reason: `is about ${record.date}, and ${asked} asked for`,
    kind: 'foreign',
  }));
}

/**
 * Parts of an answer cannot be used: rows of another shape, of days that were not asked for, or not grouped as asked.
 * `data` has the usable parts. Exit code 4.
 */
export class PartialAnswerError<Item = unknown> extends UnitError {
  readonly data: readonly Item[];
  readonly rejected: readonly Rejected[];
  /** Where a walk of pages ended: passed as `cursor` or `startAfter`, it requests this page again. Undefined for the first page. */
  readonly cursor: string | undefined;

  constructor(
    name: string,
    part: {
      readonly data: readonly Item[];
      readonly rejected: readonly Rejected[];
      readonly cursor?: string | undefined;
    },
  ) {
    const [first] = part.rejected;
    const others = part.rejected.length > 1 ? `, and ${part.rejected.length - 1} more` : '';
    super(`${name}: parts of the answer cannot be used: ${first?.path} ${first?.reason}${others}`, {
      hint: 'set allowPartial to get the other parts; they are in the error too',
    });
    this.data = part.data;
    this.rejected = part.rejected;
    this.cursor = part.cursor;
  }
}
