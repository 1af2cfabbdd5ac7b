import { UNASSIGNED } from '../../rollups/index.ts';
import { cellOf, differenceOf, type MetricResult, type NumberFormat, type ShownNumber } from '../numbers.ts';
import { type PageReader, scopeOf, tryAsk } from '../reader.ts';
import { holeIn, periodBefore } from '../time-spans.ts';
import { groupName } from './groups.ts';

/** What changed between a period and the span before. */
interface ChangesSpec {
  readonly by: 'team' | 'model';
  readonly metric: string;
  readonly format: NumberFormat;
  /** With a sign, for differences. */
  readonly changeFormat: NumberFormat;
  readonly most: number;
}

/** A team or model in both spans. */
export interface NamedChange {
  readonly by: 'team' | 'model';
  readonly name: string;
  readonly now: ShownNumber;
  readonly before: ShownNumber;
  readonly change: ShownNumber;
}

/**
 * The teams or models that changed most, up or down, also those that are new or not any more. None if the spans cannot be compared,
 * or nobody has a team.
 */
export async function largestChanges(reader: PageReader, spec: ChangesSpec): Promise<NamedChange[]> {
  const { by, metric, format, changeFormat, most } = spec;
  const before = periodBefore(reader.filters);
  if (before === null) return [];
  const { words: _, ...scope } = scopeOf(reader.filters, metric);
  const question = { metric, title: `${metric} by ${by}`, by: [by], ...scope };
  const now = await tryAsk(reader, question);
  const then = await tryAsk(reader, { ...question, ...before, title: `${question.title} before` });
  if (now.kind === 'refusal' || then.kind === 'refusal') return [];
  if (holeIn(now.result, then.result) !== undefined) return [];
  const [is, was] = [numbersIn(now.result, spec), numbersIn(then.result, spec)];
  const names = [...new Set([...is.keys(), ...was.keys()])].toSorted();
  if (by === 'team' && names.every((name) => name === UNASSIGNED)) return [];
  return names
    .map((name): NamedChange => {
      const amounts = { now: is.get(name) ?? nothing(format), before: was.get(name) ?? nothing(format) };
      return { by, name, ...amounts, change: differenceOf(amounts.now, amounts.before, changeFormat) };
    })
    .filter(({ change: { value } }) => value !== null && value !== 0)
    .toSorted((a, b) => Math.abs(b.change.value ?? 0) - Math.abs(a.change.value ?? 0))
    .slice(0, most);
}

function numbersIn(result: MetricResult, { by, format }: ChangesSpec): ReadonlyMap<string, ShownNumber> {
  return new Map(result.rows.map((row, index) => [groupName(row, by), cellOf(result, index, format)]));
}

/** What has no row in a span of which no day is missing was not used. */
function nothing(format: NumberFormat): ShownNumber {
  return { kind: 'number', value: 0, format, formula: { op: 'sum', of: [] } };
}
