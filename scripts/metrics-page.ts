import { additivityOf, dimensionsOf, type Metric } from '../schema/metrics/define.ts';
import { metricGroups } from '../schema/metrics/dictionary.ts';

const METRICS_INTRODUCTION = `# Metrics

This page is generated from \`schema/metrics/\` by \`npm run docs\`. Each metric is declared once; \`daywalk metric\` computes it.

- **Period.** From the first [expected](operations.md#what-is-expected) day to the newest loaded day of the stream, unless you name other
  days. A last day that is not over is refused. Weeks and months that the period covers in part count only the days inside it.
- **Source.** A metric has one source. Metrics about tokens and tools, and those named \`published_…\`, are numbers that the service
  publishes for the whole organization. The others are computed from the rows of users. The two can differ and are never mixed.
- **NULL and 0.** The value of a day, week or month is NULL if none of its days is stored, and of users if rows about
  people of one of its days [have expired](privacy.md#keep-people-for-a-limited-time). Then \`new_users\` is NULL for
  all later days too, because whoever was active before would pass for new; a question without a first day begins with the first that is
  kept. A day of which every record is in quarantine is not stored. If days are stored and nothing happened, sums and counts are 0. A ratio whose denominator is 0 is NULL.
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

## The largest rows, filters and cohorts

\`\`\`sh
daywalk metric published_cost --by model --top 5 --compare --filter month=2026-11
daywalk metric cost --by team --from 2026-11-01 --compare --order change
daywalk metric active_users --cohort first-month
\`\`\`

\`--top N\` shows the N largest rows, then \`others (n)\` and \`total\`. \`--order value\` or \`--order change\` (the amount, whatever its sign;
with \`--compare\`) orders all rows. The total is the metric of the whole period, with the filters of the question; the others follow its rule:

| combines as | others | total |
|---|---|---|
| sum | the other rows added | the metric without dimensions |
| distinct count | people of the other rows, each counted once | everybody, each counted once |
| ratio | numerator and denominator of the other rows | numerator and denominator of all rows |
| end of period | as the metric over the other groups; none by date, week or month | the state on the last day |
| one day only | none | none over several days |

Where there is none, the value is null, and \`others_note\` or \`total_note\` says why. If the service publishes a total and names the model for
a part of it only, the rest is the row \`without a model\` (\`unnamed\` in JSON). With \`--compare\`, others and total have \`before\` and
\`change\` too; groups that are not there any more are among the rows.

\`--filter DIMENSION=VALUE\` works for every dimension of the metric, and may be repeated: \`team\` and \`user\` are those of \`--team\` and
\`--user\`; \`date\`, \`week\` and \`month\` are the period; \`none\` means rows that name no value. An unknown value is refused, with the nearest one.

\`--cohort first-month\` follows people from the month of their first row: for each \`cohort\` and each \`month\` from it on, \`value\` of \`size\` people
were active. A cohort is that of \`new_users --by month\`. Months that the period covers in part count only the days in it. Erased people count.
Nothing is answered where [nobody is kept](privacy.md), or where people have expired: the first row is then not known.
`;

/** The dictionary of metrics as a page of Markdown. */
export function metricsMarkdown(): string {
  const groups = metricGroups.map(
    ({ title, doc, metrics }) =>
      `## ${title}\n\n${doc}\n\n| metric | unit | meaning | combines as | source | dimensions |\n|---|---|---|---|---|---|\n${metrics.map(renderRow).join('\n')}\n`,
  );
  return [METRICS_INTRODUCTION, ...groups].join('\n');
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
