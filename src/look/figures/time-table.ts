import type { Dimension, Grain } from '../../../schema/metrics/dictionary.ts';
import { parseDay } from '../../core/day.ts';
import { type NumberFormat, noNumber, type ShownNumber, wholeSumOf } from '../numbers.ts';
import { slicePath, type Table } from '../page.ts';
import { BUCKET_TITLES } from '../time-spans.ts';
import { bucketOfDay, type DayEvent } from './events.ts';

/** A bar's part or a line: its number in each bucket in which it has one. */
export interface Series {
  readonly name: string;
  readonly numbers: ReadonlyMap<string, ShownNumber>;
}

/** What of a figure over time its table depends on. */
interface DrawnSpec {
  readonly draw: 'bars' | 'lines';
  readonly grain: Grain;
  readonly by?: Dimension | undefined;
  readonly metrics?: readonly { readonly metric: string }[];
  readonly format: NumberFormat;
}

/** What is drawn, and written as a table. */
export interface Drawn {
  readonly buckets: readonly string[];
  readonly spec: DrawnSpec;
  readonly events: readonly DayEvent[];
}

/** Where the credits or the cost of a day open; other numbers do not. */
function openedBy({ grain, by, metrics = [] }: DrawnSpec, bucket: string): string | undefined {
  if (grain !== 'date' || by !== undefined) return undefined;
  const value = VALUE_OF[metrics[0]?.metric ?? ''];
  if (value === undefined) return undefined;
  const day = parseDay(bucket);
  return slicePath({ value, from: day, until: day });
}

const VALUE_OF: Readonly<Record<string, string>> = { cost: 'cost', billable_tokens: 'credits' };

/** A cell without words. */
const NOTHING = '–';

/** A row per bucket, the newest first; with their sum for groups that add up. */
export function tableOf(series: readonly Series[], { buckets, spec, events }: Drawn): Table {
  const { draw, grain, by, format } = spec;
  const eventsIn = (bucket: string) =>
    events.filter(({ day }) => bucketOfDay(day, grain) === bucket).map(({ text }) => text);
  const nothing = noNumber(draw === 'lines' ? 'nobody was counted' : 'nothing occurred in it', format);
  const hasSum = draw === 'bars' && by !== undefined;
  return {
    columns: [
      { title: BUCKET_TITLES[grain] },
      ...series.map(({ name }) => ({ title: name, align: 'end' as const })),
      ...(hasSum ? [{ title: 'Together', align: 'end' as const }] : []),
      ...(events.length > 0 ? [{ title: 'What happened' }] : []),
    ],
    rows: buckets
      .map((bucket) => {
        const known = series.flatMap(({ numbers }) => numbers.get(bucket) ?? []);
        const cells = series.map(({ numbers }) => numbers.get(bucket) ?? nothing);
        return [
          { kind: 'text' as const, text: bucket },
          ...cells.map((cell) => ({ ...cell, path: openedBy(spec, bucket) })),
          ...(hasSum ? [wholeSumOf(known, format)] : []),
          ...(events.length > 0
            ? [{ kind: 'text' as const, text: eventsIn(bucket).join('; ') || NOTHING, isMuted: true }]
            : []),
        ];
      })
      .toReversed(),
  };
}
