import { stacks } from '../charts/stacks.ts';
import { bucketOpenness } from '../data/buckets.ts';
import { completeWeeks } from '../data/compare.ts';
import type { PageReader } from '../data/reader.ts';
import type { MetricResult } from '../data/result.ts';
import { hiddenGrain } from '../data/shown-grain.ts';
import { cellOf, differenceOf, type ShownNumber } from '../page/numbers.ts';
import type { Figure, Phrase } from '../page/page.ts';
import { bucketWords, NO_WEEK, WEEKS } from './bucket-words.ts';
import { emptinessOf, emptyFigure } from './empty-figure.ts';

const NAME = { id: 'people-per-week', title: 'New, returning and inactive people', unit: 'People' } as const;

const LOAD_PEOPLE: Phrase = [
  'Inactive people are not known. Load people with `daywalk people load people.csv`.',
];

/** People of each complete week: active ones, new or not, and licensed people without activity where people are loaded. */
export async function peoplePerWeek(reader: PageReader): Promise<Figure> {
  const period = completeWeeks(reader.filters.until, WEEKS);
  const hidden = hiddenGrain(reader, 'week');
  if (hidden !== undefined || period === null) return emptyFigure(NAME, hidden ?? NO_WEEK);
  const ask = (metric: string, title: string) => reader.ask({ metric, title, by: ['week'], ...period });
  const active = await ask('active_users', 'Active users per week');
  const fresh = await ask('new_users', 'New users per week');
  const inactive = await ask('inactive_users', 'Inactive users per week');
  const results = [active, fresh, inactive];
  if (active.rows.every(({ value }) => value === null)) {
    return emptyFigure(NAME, emptinessOf(active), results);
  }
  const isListed = inactive.rows.some(({ value }) => value !== null);
  const weeks = active.rows.map(({ week }, index) =>
    weekOf(String(week), index, { active, fresh, inactive }),
  );
  const names = ['returning', 'new', ...(isListed ? ['inactive'] : [])];
  return {
    kind: 'figure',
    id: NAME.id,
    title: isListed ? NAME.title : 'New and returning people',
    subtitle: `${NAME.unit}, ${bucketWords('week', period, weeks.length)}`,
    chart: stacks(
      weeks.flatMap(({ week, isOpen, parts }) =>
        names.map((group, index) => ({ bucket: week, group, isOpen, value: parts[index]?.value ?? null })),
      ),
      { label: 'People per week, stacked bars', groups: names, wide: true },
    ),
    table: {
      columns: [
        { title: 'Week from' },
        ...['Active', 'Returning', 'New', ...(isListed ? ['Inactive'] : [])].map((title) => ({
          title,
          align: 'end' as const,
        })),
      ],
      rows: weeks
        .map(({ week, all, parts }) => [
          { kind: 'text' as const, text: week },
          all,
          ...parts.slice(0, names.length),
        ])
        .toReversed(),
    },
    tableIs: 'folded',
    results,
    notes: [
      ['Weeks count people once each, so they do not add up to the people of a month.'],
      isListed
        ? ['Inactive people are licensed on the last day of the week and have no activity in it.']
        : LOAD_PEOPLE,
    ],
  };
}

interface Counted {
  readonly active: MetricResult;
  readonly fresh: MetricResult;
  readonly inactive: MetricResult;
}

/** One week: all active people, and the parts of its bar from the bottom up. */
function weekOf(week: string, row: number, { active, fresh, inactive }: Counted) {
  const open = bucketOpenness(active, 'week', week);
  const cell = (result: MetricResult) =>
    cellOf(result, row, 'count', { open, why: 'no day of the week is stored' });
  const all = cell(active);
  const isNew = cell(fresh);
  const parts: readonly ShownNumber[] = [differenceOf(all, isNew), isNew, cell(inactive)];
  return { week, isOpen: open !== null, all, parts };
}
