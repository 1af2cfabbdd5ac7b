import { sql } from '../../../schema/query.ts';
import { PHRASES } from '../../metrics/query/dialect.ts';
import type { PageReader } from '../data/reader.ts';
import type { Result } from '../data/result.ts';
import { scopeOf } from '../data/scope.ts';
import { cellOf } from '../page/numbers.ts';
import type { Figure } from '../page/page.ts';
import { periodWords } from '../words/spans.ts';

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

/** The table of such names. */
export function artifactsFigure({ filters }: PageReader, result: Result): Figure {
  return {
    kind: 'figure',
    id: 'names-that-are-no-tools',
    title: 'Names that are no tools',
    subtitle: `Invocations, ${periodWords(filters)}${scopeOf(filters, 'tool_invocations').words}`,
    table: {
      columns: [{ title: 'Name, as the service sent it' }, { title: 'Invocations', align: 'end' }],
      rows: result.rows.map((row, index) => [
        { kind: 'text', text: JSON.stringify(row['tool']), isCode: true },
        cellOf(result, index, 'count', { column: 'invocations' }),
      ]),
    },
    tableIs: 'folded',
    results: [result],
    notes: [['These names look like parsing errors of the service. They are counted as it publishes them.']],
  };
}
