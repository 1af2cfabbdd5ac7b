import { sparkline } from '../charts/sparkline.ts';
import { completeWeeks, periodBefore } from '../data/compare.ts';
import type { PageReader } from '../data/reader.ts';
import { cellOf, changeOf, type NumberFormat } from '../page/numbers.ts';
import type { Headline } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';

const WEEKS = 13;

/** A metric as one number, with its change against the same span before and a line of complete weeks. */
export async function headline(
  reader: PageReader,
  { metric, title, format }: { metric: string; title: string; format: NumberFormat },
): Promise<Headline> {
  const { filters } = reader;
  const now = await reader.ask({ metric, title });
  const before = periodBefore(filters);
  const then = before === null ? null : await reader.ask({ metric, title: `${title} before`, ...before });
  const weeks = completeWeeks(filters.until, WEEKS);
  const line =
    weeks === null ? null : await reader.ask({ metric, title: `${title} per week`, by: ['week'], ...weeks });
  const number = cellOf(now, 0, format, { why: 'no day of the period is stored' });
  return {
    title,
    number,
    change:
      then === null
        ? changeOf(number, number, 'the days before are older than the first day of the service')
        : changeOf(number, cellOf(then, 0, format), holeIn(now.basis.days.missing, then.basis.days.missing)),
    against: before === null ? '' : periodWords(before, filters.until),
    line:
      line === null
        ? undefined
        : sparkline(
            line.rows.map(({ value }) => value),
            `${title} per week, the last ${line.rows.length} complete weeks`,
          ),
    results: [now, ...(then === null ? [] : [then]), ...(line === null ? [] : [line])],
  };
}

/** Spans are compared only if no day of either is missing. */
function holeIn(now: readonly string[], then: readonly string[]): string | undefined {
  const missing = now.length + then.length;
  if (missing === 0) return undefined;
  return `${missing} ${missing === 1 ? 'day is' : 'days are'} missing, so the spans cannot be compared`;
}
