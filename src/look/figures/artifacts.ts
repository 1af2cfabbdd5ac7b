import { sql } from '../../../schema/query.ts';
import { PHRASES } from '../../metrics/query/select.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { scopeOf } from '../data/scope.ts';
import { cellOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';
import { emptyFigure } from './empty-figure.ts';

/** Names of tools that look like parsing errors of the service. They count as invocations, as published. */
export async function readArtifacts(reader: PageReader): Promise<Result> {
  const { filters, warehouse } = reader;
  const { orgId, from, until } = filters;
  return reader.select({
    title: 'Names of tools that look like parsing errors',
    query: sql`SELECT tool, SUM(invocations) AS invocations
FROM tools_daily_by_tool
WHERE org_id = ${orgId} AND date BETWEEN ${from} AND ${until} AND is_artifact
GROUP BY tool
ORDER BY invocations DESC, ${PHRASES[warehouse.dialect].sortable(sql`tool`)}`,
    streams: ['tools'],
  });
}

const ROWS_MAX = 12;

/** The table of such names. */
export function artifactsFigure({ filters }: PageReader, result: Result): Figure {
  const name = { id: 'names-that-are-no-tools', title: 'Names that are no tools', unit: 'Invocations' };
  if (result.rows.length === 0) return emptyFigure(name, 'Every name is that of a tool.', [result]);
  return {
    kind: 'figure',
    id: name.id,
    title: name.title,
    subtitle: `${name.unit}, ${periodWords(filters)}${scopeOf(filters, 'tool_invocations').words}`,
    table: {
      columns: [{ title: 'Name, as the service sent it' }, { title: 'Invocations', align: 'end' }],
      rows: result.rows
        .slice(0, ROWS_MAX)
        .map((row, index) => [
          { kind: 'text', text: JSON.stringify(row['tool']), isCode: true },
          cellOf(result, index, 'count', { column: 'invocations' }),
        ]),
    },
    tableIs: 'shown',
    results: [result],
    notes: [
      ['These names look like parsing errors of the service. They are counted as it publishes them.'],
      ...(result.rows.length > ROWS_MAX ? [['The query lists the names that are left out here.']] : []),
    ],
  };
}
