import { type SQL, sql } from '../../../schema/query.ts';
import { PHRASES } from '../../metrics/query/select.ts';
import type { PageReader } from '../data/reader.ts';
import { scopeOf } from '../data/scope.ts';
import { cellOf, type ShownNumber, shareOf, sumOf } from '../page/numbers.ts';
import type { Cell, Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { emptinessOf, emptyFigure } from './empty-figure.ts';

const NAME = { id: 'hooks', title: 'Hooks', unit: 'Invocations' } as const;
const MOST = 12;

/** The hooks of the period by event, matcher and command. Commands can hold names and paths, so the public does not see them. */
export async function hooksTable(reader: PageReader): Promise<Figure> {
  const { filters, viewer } = reader;
  const hasCommands = viewer.audience !== 'public';
  const parts = hasCommands ? ['event', 'matcher', 'command'] : ['event', 'matcher'];
  const result = await reader.select({
    title: `Invocations of hooks by ${parts.join(', ')}`,
    query: hooksQuery(reader, parts),
    streams: ['tools'],
  });
  if (result.rows.length === 0) return emptyFigure(NAME, emptinessOf(result), [result]);
  const numbers = result.rows.map((_, index) => cellOf(result, index, 'count', { column: 'invocations' }));
  const whole = sumOf(numbers, 'count');
  const max = Math.max(0, ...numbers.map(({ value }) => value ?? 0));
  const rowOf = (cells: readonly Cell[], number: ShownNumber): readonly Cell[] => [
    ...cells,
    number,
    { kind: 'bar', value: number.value, max },
    shareOf(number, whole),
  ];
  const left = numbers.slice(MOST);
  return {
    kind: 'figure',
    id: NAME.id,
    title: NAME.title,
    subtitle: `${NAME.unit}, ${periodWords(filters)}${scopeOf(filters, 'hook_invocations').words}`,
    table: {
      columns: [
        ...parts.map((part) => ({ title: `${part.slice(0, 1).toUpperCase()}${part.slice(1)}` })),
        { title: 'Invocations', align: 'end' },
        { title: '' },
        { title: 'Share', align: 'end' },
      ],
      rows: [
        ...numbers.slice(0, MOST).map((number, index) =>
          rowOf(
            parts.map((part) => partCell(String(result.rows[index]?.[part] ?? ''), part)),
            number,
          ),
        ),
        ...(left.length === 0
          ? []
          : [
              rowOf(
                [muted(`${left.length} others`), ...parts.slice(1).map(() => muted(''))],
                sumOf(left, 'count'),
              ),
            ]),
      ],
    },
    tableIs: 'shown',
    results: [result],
    notes: hasCommands ? [] : [['Hooks of one event and matcher are added up.']],
  };
}

function hooksQuery({ filters, warehouse }: PageReader, parts: readonly string[]): SQL {
  const { orgId, from, until } = filters;
  const { sortable } = PHRASES[warehouse.dialect];
  const columns = parts.map((part) => sql.raw(part));
  const listed = sql.join(columns, sql`, `);
  return sql`SELECT ${listed}, SUM(count) AS invocations
FROM tools_daily_by_hook
WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until}
GROUP BY ${listed}
ORDER BY invocations DESC, ${sql.join(columns.map(sortable), sql`, `)}`;
}

function partCell(text: string, part: string): Cell {
  if (text === '') return muted('–');
  return { kind: 'text', text, isCode: part !== 'event' };
}

function muted(text: string): Cell {
  return { kind: 'text', text, isMuted: true };
}
