import type { PageReader } from '../data/reader.ts';
import type { NumberFormat } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { headline } from './headline.ts';

/** Several metrics of the period, each with its change against the same span before. */
export async function changesTable(
  reader: PageReader,
  spec: {
    readonly id: string;
    readonly title: string;
    readonly metrics: readonly {
      readonly metric: string;
      readonly title: string;
      readonly format: NumberFormat;
    }[];
  },
): Promise<Figure> {
  const found = [];
  for (const metric of spec.metrics) found.push(await headline(reader, { ...metric, hasLine: false }));
  const against = found.find(({ against: span }) => span !== '')?.against;
  return {
    kind: 'figure',
    id: spec.id,
    title: spec.title,
    subtitle: `${periodWords(reader.filters)}${against === undefined ? '' : `; change against ${against}`}`,
    table: {
      columns: [{ title: '' }, { title: 'Number', align: 'end' }, { title: 'Change', align: 'end' }],
      rows: found.map(({ title, number, change }) => [{ kind: 'text', text: title }, number, change]),
    },
    tableIs: 'shown',
    results: found.flatMap(({ results }) => results),
  };
}
