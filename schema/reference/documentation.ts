import { type AnyTable, type Column, type Columns, KINDS, type TableRole, type View } from '../define.ts';
import { type Invariant, invariantName, invariantsOf } from '../invariants.ts';
import { allTables } from '../tables.ts';
import { allViews } from '../views.ts';
import { exampleQueries } from './examples.ts';
import { type MetricExample, metricExamples } from './metric-examples.ts';
import { commandOf } from './questions.ts';

/** The declarations of the warehouse, rendered for readers and for tools. */

export { type ExampleQuery, exampleQueries } from './examples.ts';
export { type MetricExample, metricExamples } from './metric-examples.ts';

export {
  commandOf,
  isMetricCall,
  type MetricCall,
  type Question,
  questions,
} from './questions.ts';
export { DATABASES, DISTRIBUTIONS, schemaSql } from './sql.ts';

const WAREHOUSE_INTRODUCTION = `# The warehouse

This page is generated from \`schema/\` by \`npm run docs\`; \`daywalk schema\` prints it too.

- A day is a UTC day. All rows of a stream and day appear together or not at all.
- Absent and null values are NULL, never 0. Published numbers are stored unchanged; none is derived or corrected.
- **Do not sum** marks columns whose values must not be added up over days or groups: averages, percentiles, shares and
  counts of distinct people. The sum of daily active users would count a person once for every active day.
- Columns in **bold** are the primary key.
- **Always** is what values satisfy unless they are NULL. A response that does not is never stored, see
  [trust.md](trust.md#impossible-values-and-contradictions).
- Both databases have the same tables. In the ledger (\`export_units\`, \`restatements\`, \`quarantine\`) \`date\` is text in
  PostgreSQL too, because readiness reports have no day and store ''; cast other values with \`date::date\`. Keys are
  compared by their bytes (\`COLLATE "C"\`).
`;

const GROUPS: readonly { readonly role: TableRole; readonly title: string; readonly doc: string }[] = [
  { role: 'fact', title: 'Daily analytics', doc: 'One set of rows per organization and UTC day.' },
  {
    role: 'readiness',
    title: 'Readiness reports',
    doc: 'Evaluations of repositories. They are not organized by day.',
  },
  {
    role: 'event',
    title: 'Sessions and hook events',
    doc: 'Sessions are stored when they are created, hook events when the spool is drained.',
  },
  {
    role: 'dimension',
    title: 'People, prices, budgets and events',
    doc: 'What people have loaded from CSV files. The service knows none of it.',
  },
  {
    role: 'rollup',
    title: 'Rollups',
    doc:
      'Recomputed from the other tables at the end of each run, so no digest covers them. Until then they show the state ' +
      'of the last run; `rollup_marks` says which units they were computed from.',
  },
  { role: 'ledger', title: 'Ledger and findings', doc: 'What was pulled, when, and what was wrong with it.' },
];

/** The whole schema as a page of Markdown. */
export function schemaMarkdown(): string {
  return [
    WAREHOUSE_INTRODUCTION,
    contents(),
    ...GROUPS.map(renderGroup),
    renderViews(),
    renderExamples(),
    renderMetrics(),
  ].join('\n');
}

function contents(): string {
  const groups = GROUPS.map(({ role, title }) => `- ${title}: ${tablesOf(role).map(linkTo).join(', ')}`);
  return [
    ...groups,
    `- [Views](#views): ${allViews.map(linkTo).join(', ')}`,
    '- [Example queries](#example-queries)',
    '- [Metrics](#metrics), one question each',
    '',
  ].join('\n');
}

function linkTo({ name }: { readonly name: string }): string {
  return `[\`${name}\`](#${name})`;
}

function tablesOf(role: TableRole): AnyTable[] {
  return allTables.filter((table) => table.role === role);
}

function renderGroup({ role, title, doc }: (typeof GROUPS)[number]): string {
  return [`## ${title}\n`, `${doc}\n`, ...tablesOf(role).map(renderTable)].join('\n');
}

function renderTable(table: AnyTable): string {
  const { name, doc, stream, key, columns } = table;
  const source = stream === null ? '' : ` Stream \`${stream}\`.`;
  return `### \`${name}\`\n\n${doc}${source}${renderInvariants(table)}\n\n${renderColumns(columns, key)}`;
}

/** What is never stored of a table; '' if anything may be. All counts of a table are one clause. */
function renderInvariants(table: AnyTable): string {
  const impossible = invariantsOf(table).filter(({ severity }) => severity === 'impossible');
  const isCount = ({ bound }: Invariant) => bound === 0;
  const others = impossible
    .filter((invariant) => !isCount(invariant))
    .map((invariant) => `\`${invariantName(invariant).slice(table.name.length + 1)}\``);
  const clauses = [...(impossible.some(isCount) ? ['every count ≥ 0'] : []), ...others];
  return clauses.length === 0 ? '' : ` **Always:** ${clauses.join(', ')}.`;
}

function renderViews(): string {
  const views = allViews.map(
    ({ name, doc, columns }: View) => `### \`${name}\`\n\n${doc}\n\n${renderColumns(columns, [])}`,
  );
  return ['## Views\n', 'For BI tools. Views store nothing.\n', ...views].join('\n');
}

function renderColumns(columns: Columns, key: readonly string[]): string {
  const rows = Object.entries(columns).map(([name, column]) =>
    renderColumn(name, column, key.includes(name)),
  );
  return ['| column | SQLite | PostgreSQL | meaning |', '|---|---|---|---|', ...rows, ''].join('\n');
}

function renderColumn(name: string, { kind, doc, additive }: Column, isKey: boolean): string {
  const { sqlite, postgres, isNullable } = KINDS[kind];
  const mark = additive === false ? ' **Do not sum.**' : '';
  const presence = isNullable ? '' : ' NOT NULL';
  const shown = isKey ? `**\`${name}\`**` : `\`${name}\``;
  return `| ${shown} | ${sqlite}${presence} | ${postgres}${presence} | ${escapeCell(doc)}${mark && `.${mark}`} |`;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function renderExamples(): string {
  const blocks = Object.values(exampleQueries).map(
    ({ title, sql }) => `### ${title}\n\n\`\`\`sql\n${sql};\n\`\`\`\n`,
  );
  const doc =
    'They run on both databases. If the warehouse holds several organizations, add `WHERE org_id = …`. ' +
    '[questions.md](questions.md) answers forty-four more questions, forty of them without SQL.\n';
  return ['## Example queries\n', doc, ...blocks].join('\n');
}

const METRICS = `## Metrics

\`daywalk metric\` answers such questions for any period, team and user, and says which days are missing or may still change.
The SQL gives the same numbers over all stored days of a warehouse with one organization. [metrics.md](metrics.md) defines
every metric.

| question | command | SQL |
|---|---|---|`;

function renderMetrics(): string {
  return [METRICS, ...metricExamples.map(renderMetric), ''].join('\n');
}

function renderMetric({ question, sql, ...call }: MetricExample): string {
  return `| ${question} | \`${commandOf(call)}\` | \`${escapeCell(sql)}\` |`;
}

/** A column, as `daywalk schema --format json` prints it. */
interface ColumnDocument {
  readonly name: string;
  readonly meaning: string;
  readonly type: { readonly sqlite: string; readonly postgres: string };
  readonly nullable: boolean;
  /** Whether its values may be summed over days and groups; null if it is not a published number. */
  readonly additive: boolean | null;
}

/** The whole schema as one JSON document: tables, views and example queries. */
export function schemaDocument() {
  return {
    tables: allTables.map(({ name, doc, role, stream, key, columns }) => ({
      name,
      meaning: doc,
      role,
      stream,
      key,
      columns: columnsOf(columns),
    })),
    views: allViews.map(({ name, doc, columns }) => ({ name, meaning: doc, columns: columnsOf(columns) })),
    examples: Object.values(exampleQueries),
  };
}

function columnsOf(columns: Columns): ColumnDocument[] {
  return Object.entries(columns).map(([name, { kind, doc, additive }]) => ({
    name,
    meaning: doc,
    type: { sqlite: KINDS[kind].sqlite, postgres: KINDS[kind].postgres },
    nullable: KINDS[kind].isNullable,
    additive: additive ?? null,
  }));
}
