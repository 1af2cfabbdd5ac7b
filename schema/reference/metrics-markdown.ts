import { additivityOf, dimensionsOf, type Metric, metricGroups } from '../metrics.ts';

const INTRODUCTION = `# Metrics

This page is generated from \`schema/metrics/\` by \`npm run docs\`. Each metric is declared once; \`daywalk metric\` computes it.

- **Period.** From 2026-01-14 to the newest loaded day of the stream, unless you name other days. Weeks and months that the
  period covers in part count only the days inside it.
- **Source.** A metric has one source. Metrics about tokens and tools, and those named \`published_…\`, are numbers that the service
  publishes for the whole organization. The others are computed from the rows of users. The two can differ and are never mixed.
- **NULL and 0.** The value of a day, week or month is NULL if none of its days is stored. If days are stored and nothing happened,
  sums and counts are 0. A ratio whose denominator is 0 is NULL.
- **Teams.** The team of a row is that of its user on that day. Someone who moved counts in both teams, so distinct counts
  of teams do not add up to the total. Rows of users without a team are "unassigned", in JSON null.
- **Money.** The unit is the currency of the prices. If a day with credits has no price, every cost that includes it is NULL, with
  a warning. Costs in two currencies are never added.

How the values of a metric may be combined:

| | |
|---|---|
| sum | Values add up over all dimensions. |
| distinct count | A user counts once in each group, so values of several days, teams or languages do not add up. |
| ratio | Recomputed for each group from numerator and denominator. |
| end of period | The state on the last day of the day, week, month or period. |
| one day only | Published for one day. Daywalk refuses to add or average it. |
`;

/** The dictionary of metrics as a page of Markdown. */
export function metricsMarkdown(): string {
  const groups = metricGroups.map(
    ({ title, doc, metrics }) =>
      `## ${title}\n\n${doc}\n\n| metric | unit | meaning | combines as | source | dimensions |\n|---|---|---|---|---|---|\n${metrics.map(renderRow).join('\n')}\n`,
  );
  return [INTRODUCTION, ...groups].join('\n');
}

function renderRow(metric: Metric): string {
  const { name, title, unit, doc, source, breakdown, alsoReads = [] } = metric;
  const read = [source.table, ...(breakdown === undefined ? [] : [breakdown.table]), ...alsoReads];
  const cells = [
    `\`${name}\``,
    unit,
    `**${title}.** ${doc}`,
    additivityOf(metric),
    read.map((table) => `\`${table.name}\``).join(', '),
    dimensionsOf(metric).join(', '),
  ];
  return `| ${cells.join(' | ')} |`;
}
