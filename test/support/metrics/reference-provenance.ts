import type { MetricQuestion } from '../../../src/metrics/question.ts';
import { addDays } from './calendar.ts';
import type { Facts } from './facts.ts';
import { definitionFor, isStoredUnit } from './reference.ts';

/** What the reference says about the period of an answer. */
export interface PlainProvenance {
  readonly from: string;
  readonly until: string;
  readonly days: {
    readonly expected: number;
    readonly settled: number;
    readonly unsettled: readonly string[];
    readonly missing: readonly string[];
  };
  readonly run_id: string | null;
}

/** The period of a question that names its last day, the condition of its days, and the run that changed one of them last. */
export function referenceProvenance({ units }: Facts, question: MetricQuestion): PlainProvenance {
  const { stream } = definitionFor(question);
  const { from = '2026-01-14', until } = question;
  if (until === undefined) throw new Error('the reference needs the last day of the period');
  const own = units.filter((unit) => unit.stream === stream && isStoredUnit(unit));
  if (stream === 'readiness') {
    const days = { expected: 0, settled: 0, unsettled: [], missing: [] };
    return { from, until, days, run_id: latestRun(own) };
  }
  const days: string[] = [];
  for (let day: string = from; day <= until; day = addDays(day, 1)) days.push(day);
  const unitOf = (day: string) => own.find(({ date }) => date === day);
  const missing = days.filter((day) => unitOf(day) === undefined);
  const unsettled = days.filter((day) => {
    const unit = unitOf(day);
    return (
      unit !== undefined && (unit.settled_at === null || unit.state === 'doubted' || unit.confirmed === 'age')
    );
  });
  const settled = days.length - missing.length - unsettled.length;
  return {
    from,
    until,
    days: { expected: days.length, settled, unsettled, missing },
    run_id: latestRun(days.flatMap((day) => unitOf(day) ?? [])),
  };
}

/** The run of the unit that changed last; of several, that of the latest day. */
function latestRun(units: readonly Facts['units'][number][]): string | null {
  const last = units
    .toSorted((one, other) => compare(String(one.changed_at), String(other.changed_at)))
    .at(-1);
  return typeof last?.run_id === 'string' ? last.run_id : null;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
