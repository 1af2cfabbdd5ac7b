import { isRestricted, mergedGroups } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import { cellOf } from '../page/numbers.ts';
import type { Figure, Phrase } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { emptinessOf, emptyFigure } from './empty-figure.ts';

const NAME = {
  id: 'languages',
  title: 'Languages of people',
  unit: 'People who worked in a language',
} as const;
const MOST = 12;

/** How many people worked in each language. A person counts in each of them, so that the numbers do not add up. */
export async function languagesOfPeople(reader: PageReader): Promise<Figure> {
  const result = await reader.ask({ metric: 'language_users', title: NAME.title, by: ['language'] });
  const merged = mergedGroups(reader.viewer, 'language');
  const all = result.rows
    .map((row, index) => ({ name: row['language'], number: cellOf(result, index, 'count') }))
    .flatMap(({ name, number }) => (typeof name === 'string' ? { name, number } : []));
  const shown = all
    .filter(({ name }) => !merged.has(name))
    .toSorted((a, b) => (b.number.value ?? 0) - (a.number.value ?? 0) || (a.name < b.name ? -1 : 1));
  if (all.length === 0) return emptyFigure(NAME, emptinessOf(result), [result]);
  const max = Math.max(0, ...shown.map(({ number }) => number.value ?? 0));
  const hidden = all.length - shown.length;
  const notes: Phrase[] = [
    ['A person counts in each language, so the numbers do not add up.'],
    ...(shown.length > MOST ? [['Further languages have fewer people; the query has all of them.']] : []),
    ...(isRestricted(reader.viewer) && hidden > 0 ? [['Languages of few people are left out.']] : []),
  ];
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${NAME.unit}, ${periodWords(reader.filters)}`,
    table: {
      columns: [{ title: 'Language' }, { title: 'People', align: 'end' }, { title: '' }],
      rows: shown
        .slice(0, MOST)
        .map(({ name, number }) => [
          { kind: 'text', text: name },
          number,
          { kind: 'bar', value: number.value, max },
        ]),
    },
    tableIs: 'shown',
    results: [result],
    notes,
  };
}
