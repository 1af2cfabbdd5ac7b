import { DIMENSIONS, type Dimension } from '../../../schema/metrics/define.ts';
import type { MetricRow } from '../../../src/metrics/question.ts';
import { addDays, lastOfMonth, mondayOf } from './calendar.ts';
import type { Bucket, Definition, Entry } from './definition.ts';
import type { Facts } from './facts.ts';
import { fromPublished, totalOf } from './from-published-rows.ts';
import { fromUsers, priceOn } from './from-user-rows.ts';

/** Every metric, defined a second time. */
export const definitions: Readonly<Record<string, Definition>> = { ...fromUsers, ...fromPublished };

/** A question about a period that is known. Days are text. */
export interface PlainQuestion {
  readonly metric: string;
  readonly by: readonly Dimension[];
  readonly from: string;
  readonly until: string;
  readonly team?: string | null | undefined;
  readonly user?: string | undefined;
  readonly where?: Partial<Readonly<Record<Dimension, string | null>>> | undefined;
}

/** The definition that a question is about. */
export function definitionFor({
  metric,
  by,
  where = {},
}: Pick<PlainQuestion, 'metric' | 'by' | 'where'>): Definition {
  const isInParts = [...by, ...Object.keys(where)].some((name) => name === 'model' || name === 'tier');
  const definition = (isInParts ? undefined : totalOf(metric)) ?? definitions[metric];
  if (definition === undefined) throw new Error(`the reference does not define ${metric}`);
  return definition;
}

/**
 * The rows of the answer to a question, computed row by row from the facts; 'refused' for a cost in several currencies. The
 * rows are in the order of their dimensions, without one (null) last.
 */
export function referenceAnswer(facts: Facts, question: PlainQuestion): readonly MetricRow[] | 'refused' {
  const definition = definitionFor(question);
  const period = { first: question.from, last: question.until };
  if (
    /^(?:published_)?cost/.test(question.metric) &&
    currencies(facts, chosen(facts, question, period)).size > 1
  ) {
    return 'refused';
  }
  const grain = question.by.find(isGrain);
  const rows = bucketsOf(period, grain).flatMap(({ label, bucket }) => {
    const entries = chosen(facts, question, bucket);
    return groupsOf(entries, question.by, label).map(
      ({ parts, own }): MetricRow => ({
        ...parts,
        value: isStoredIn(facts, definition, bucket) ? definition.value(own, facts) : null,
      }),
    );
  });
  return rows.toSorted((left, right) => compareRows(left, right, question.by));
}

function chosen(facts: Facts, question: PlainQuestion, bucket: Bucket): readonly Entry[] {
  const entries = definitionFor(question).entries(facts, bucket);
  return entries.filter(
    ({ parts }) =>
      (question.team === undefined || parts.team === question.team) &&
      (question.user === undefined || parts.user === question.user) &&
      DIMENSIONS.every(
        (name) => question.where?.[name] === undefined || (parts[name] ?? null) === question.where[name],
      ),
  );
}

/** The value of everything in the period that belongs to none of some rows of the answer. */
export function referenceRest(
  facts: Facts,
  question: PlainQuestion,
  rows: readonly MetricRow[],
): number | null {
  const definition = definitionFor(question);
  const period = { first: question.from, last: question.until };
  const own = chosen(facts, question, period).filter(
    ({ day, parts }) =>
      !rows.some((row) =>
        question.by.every(
          (name) => (isGrain(name) ? labelOf(name, day) : (parts[name] ?? null)) === (row[name] ?? null),
        ),
      ),
  );
  return isStoredIn(facts, definition, period) ? definition.value(own, facts) : null;
}

/** A condition that some row of a metric meets; undefined if no row has a dimension to filter by. */
export function referenceFilter(
  facts: Facts,
  question: PlainQuestion,
  choose: (count: number) => number,
): PlainQuestion['where'] {
  const { dimensions } = definitions[question.metric] ?? {};
  const names = (dimensions ?? []).filter((name) => name !== 'team' && name !== 'user');
  const name = names[choose(names.length)];
  if (name === undefined) return undefined;
  const entries = definitionFor({ ...question, by: [name] }).entries(facts, {
    first: question.from,
    last: question.until,
  });
  const entry = entries[choose(entries.length)];
  return entry === undefined ? undefined : { [name]: entry.parts[name] ?? null };
}

function currencies(facts: Facts, entries: readonly Entry[]): Set<string> {
  const costing = entries.filter(
    ({ row }) => row['billable_tokens'] !== null && row['billable_tokens'] !== 0,
  );
  return new Set(costing.flatMap(({ day }) => priceOn(facts, day)?.currency ?? []));
}

interface Group {
  readonly parts: Readonly<Record<string, string | null>>;
  readonly own: readonly Entry[];
}

/** Entries with the same parts. Without further dimensions, or if nothing occurs in a bucket, there is one group. */
function groupsOf(entries: readonly Entry[], by: readonly Dimension[], label: string | null): Group[] {
  const partsOf = (entry: Entry | undefined) =>
    Object.fromEntries(by.map((name) => [name, isGrain(name) ? label : (entry?.parts[name] ?? null)]));
  const isCut = by.some((name) => !isGrain(name));
  if (!isCut || (entries.length === 0 && label !== null))
    return [{ parts: partsOf(undefined), own: entries }];
  const groups = new Map<string, Entry[]>();
  for (const entry of entries) {
    const key = JSON.stringify(partsOf(entry));
    groups.set(key, [...(groups.get(key) ?? []), entry]);
  }
  return [...groups.values()].map((own) => ({ parts: partsOf(own[0]), own }));
}

function isGrain(name: Dimension): boolean {
  return name === 'date' || name === 'week' || name === 'month';
}

/** The weeks, months or days of a period, clipped to it; without a grain, the period itself. */
function bucketsOf(
  { first, last }: Bucket,
  grain: Dimension | undefined,
): { label: string | null; bucket: Bucket }[] {
  if (grain === undefined) return [{ label: null, bucket: { first, last } }];
  const buckets: { label: string; bucket: Bucket }[] = [];
  for (let start = first; start <= last; ) {
    const end = endOf(grain, start);
    const bucket = { first: start, last: end < last ? end : last };
    buckets.push({ label: labelOf(grain, start), bucket });
    start = addDays(bucket.last, 1);
  }
  return buckets;
}

function endOf(grain: Dimension, day: string): string {
  if (grain === 'date') return day;
  return grain === 'week' ? addDays(mondayOf(day), 6) : lastOfMonth(day);
}

function labelOf(grain: Dimension, day: string): string {
  if (grain === 'date') return day;
  return grain === 'week' ? mondayOf(day) : day.slice(0, 'YYYY-MM'.length);
}

function isStoredIn({ units }: Facts, { stream }: Definition, bucket: Bucket): boolean {
  if (stream === 'readiness') return true;
  return units.some(
    (unit) => unit.stream === stream && isIn(bucket, String(unit.date)) && isStoredUnit(unit),
  );
}

const isIn = ({ first, last }: Bucket, day: string) => first <= day && day <= last;

/** In one of the states that are stored, or with rows: beside records in quarantine, or of an earlier load. */
export function isStoredUnit(unit: Facts['units'][number]): boolean {
  if (['loaded', 'empty', 'doubted'].includes(String(unit.state))) return true;
  return Number(unit.rows) > 0 && unit.first_loaded_at !== null;
}

function compareRows(left: MetricRow, right: MetricRow, by: readonly Dimension[]): number {
  for (const name of DIMENSIONS.filter((dimension) => by.includes(dimension)).toSorted(
    (one, other) => by.indexOf(one) - by.indexOf(other),
  )) {
    const [one, other] = [left[name] ?? null, right[name] ?? null];
    if (one === other) continue;
    if (one === null || other === null) return one === null ? 1 : -1;
    return one < other ? -1 : 1;
  }
  return 0;
}
