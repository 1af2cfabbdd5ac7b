import {
  type AskedMetric,
  CAUSES_NAME,
  type CohortAnswer,
  readCausesOf,
  readCohortsOf,
  readMetric,
  readMetricSql,
  readRankedMetric,
  readUnusualOf,
} from '../../../jobs/metric.ts';
import {
  additivityOf,
  askableMetrics,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  GRAINS,
} from '../../../schema/metrics/dictionary.ts';
import { type CausesAnswer, parseComparison, RANK_ORDERS, type RankOrder } from '../../comparison/index.ts';
import { parseDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { writeCsv } from '../../csv-files/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action, CommandContext, Flags } from '../program/command.ts';
import { oneNamed } from '../program/flag-values.ts';
import {
  type Answer,
  metricCsv,
  renderAnswer,
  renderCauses,
  renderCohorts,
} from '../screens/metric-answer.ts';
import { counted, formatMeasured } from '../screens/numbers.ts';
import { describeHole, renderProvenance } from '../screens/provenance.ts';
import { renderListing, renderTable, right, shrinking } from '../screens/table.ts';

const FORMATS = ['--json', '--csv', '--sql'] as const;
const QUESTION_FLAGS = [
  '--by',
  '--from',
  '--until',
  '--team',
  '--user',
  '--filter',
  '--compare',
  '--top',
  '--order',
  '--cohort',
  '--organization',
] as const;
/** The flags that causes have, and cohorts; both are about two spans or many months. */
const CAUSES_FLAGS = ['--from', '--until', '--team', '--compare', '--organization'] as const;
const COHORT_FLAGS = ['--from', '--until', '--cohort', '--organization'] as const;

export const metricAction: Action = async (context) => {
  const { flags, operands, settings, job, out } = context;
  refuseSeveralFormats(flags);
  const [name] = operands;
  if (name === undefined) return showList(context);
  const asked = askedMetric(name, flags);
  if (flags.isOn('--unusual')) return showUnusual(context, asked);
  if (name === CAUSES_NAME) return showCauses(context, asked);
  if (isGiven(flags, '--cohort')) return showCohorts(context, asked);
  if (flags.isOn('--sql')) {
    refuseSqlOf(asked);
    out.print([`${await readMetricSql(settings, asked, job)};`]);
    return EXIT.ok;
  }
  const isRanked = asked.top !== undefined || asked.order !== undefined;
  const answer = await (isRanked ? readRankedMetric : readMetric)(settings, asked, job);
  if (flags.isOn('--csv')) out.print([metricCsv(asked.by, answer).trimEnd()]);
  else out.show(answer, (frame) => renderAnswer(asked.by, answer, frame));
  warn(context, answer);
  return EXIT.ok;
};

function isGiven(flags: Flags, flag: `--${string}`): boolean {
  return flags.isOn(flag) || flags.text(flag) !== undefined || flags.texts(flag).length > 0;
}

function refuseSqlOf({ compare, top, order }: AskedMetric): void {
  if (compare !== undefined) {
    throw new UsageError('--sql and --compare exclude each other', {
      hint: 'ask for the SQL of each span, with --from and --until',
    });
  }
  if (top === undefined && order === undefined) return;
  throw new UsageError(`--sql and ${top === undefined ? '--order' : '--top'} exclude each other`, {
    hint: 'ask for the SQL of all rows, and order them with ORDER BY value DESC',
  });
}

/** @throws {UsageError} for a flag of questions that `what` does not have. */
function refuseOthers(flags: Flags, what: string, own: readonly string[]): void {
  const foreign = [...QUESTION_FLAGS, '--sql' as const].find(
    (flag) => !own.includes(flag) && isGiven(flags, flag),
  );
  if (foreign === undefined) return;
  throw new UsageError(`${what} has no ${foreign}`, {
    hint: `it has ${own.slice(0, -1).join(', ')} and ${own.at(-1)}`,
  });
}

const FIRST_MONTH = 'first-month';

async function showCohorts(context: CommandContext, asked: AskedMetric): Promise<ExitCode> {
  const { flags, settings, job, out } = context;
  refuseOthers(flags, '--cohort', COHORT_FLAGS);
  if (flags.text('--cohort') !== FIRST_MONTH) {
    throw new UsageError(`"${flags.text('--cohort')}" is not a kind of cohort`, {
      hint: `write ${FIRST_MONTH}`,
    });
  }
  const answer = await readCohortsOf(settings, asked, job);
  if (flags.isOn('--csv')) {
    out.print([writeCsv(['cohort', 'month', 'value', 'size'], answer.rows).trimEnd()]);
  } else out.show(answer, (frame) => renderCohorts(answer, frame));
  warn(context, answer);
  return EXIT.ok;
}

async function showCauses(context: CommandContext, asked: AskedMetric): Promise<ExitCode> {
  const { flags, settings, job, out } = context;
  refuseOthers(flags, CAUSES_NAME, CAUSES_FLAGS);
  const answer = await readCausesOf(settings, asked, job);
  if (flags.isOn('--csv')) {
    const columns = ['cause', 'value', 'factor_before', 'factor', 'from', 'until'] as const;
    out.print([writeCsv(columns, answer.rows).trimEnd()]);
  } else out.show(answer, (frame) => renderCauses(answer, frame));
  warn(context, answer);
  return EXIT.ok;
}

function showList({ flags, out }: CommandContext): ExitCode {
  const first = QUESTION_FLAGS.find((given) => isGiven(flags, given));
  const format = flags.isOn('--csv') ? '--csv' : flags.isOn('--sql') ? '--sql' : undefined;
  const flag = first ?? format;
  if (flag !== undefined) {
    throw new UsageError(`${flag} needs the name of a metric`, { hint: 'daywalk metric lists the names' });
  }
  const metrics = listMetrics();
  out.show({ metrics }, (frame) => renderMetrics(metrics, frame));
  return EXIT.ok;
}

function refuseSeveralFormats(flags: Flags): void {
  const [one, other] = FORMATS.filter((flag) => flags.isOn(flag));
  if (one === undefined || other === undefined) return;
  throw new UsageError(`${one} and ${other} exclude each other`, { hint: 'choose one of them' });
}

function askedMetric(metric: string, flags: Flags): AskedMetric {
  return {
    metric,
    by: flags.parse('--by', parseDimensions) ?? [],
    from: flags.parse('--from', parseDay),
    until: flags.parse('--until', parseDay),
    team: flags.text('--team'),
    user: flags.text('--user'),
    filters: parseFilters(flags.texts('--filter')),
    compare: flags.isOn('--compare') ? 'previous' : flags.parse('--compare', parseComparison),
    top: flags.number('--top', { min: 1, max: TOP_MAX }),
    order: flags.parse('--order', parseOrder),
    organization: flags.text('--organization'),
  };
}

function parseDimensions(list: string): Dimension[] {
  return list.split(',').map((name) => parseDimension(name.trim()));
}

/**
 * Parses the name of a dimension.
 * @throws {UsageError} for a name that is no dimension.
 */
export function parseDimension(name: string): Dimension {
  return oneNamed(name, DIMENSIONS, 'a dimension');
}

/** More rows are no ranking; without --top there are all. */
const TOP_MAX = 1_000;

function parseOrder(text: string): RankOrder {
  const order = RANK_ORDERS.find((name) => name === text);
  if (order !== undefined) return order;
  throw new UsageError(`"${text}" is not an order`, { hint: `write ${RANK_ORDERS.join(' or ')}` });
}

/**
 * Parses conditions such as `model=atlas-4`.
 * @throws {UsageError} for one without a value, an unknown dimension, and one that is given twice.
 */
function parseFilters(conditions: readonly string[]): Partial<Record<Dimension, string>> {
  const filters: Partial<Record<Dimension, string>> = {};
  for (const condition of conditions) {
    const end = condition.indexOf('=');
    if (end < 1) {
      throw new UsageError(`--filter: "${condition}" is not a condition`, {
        hint: 'write DIMENSION=VALUE, for example model=atlas-4',
      });
    }
    const dimension = parseDimension(condition.slice(0, end).trim());
    if (filters[dimension] !== undefined) {
      throw new UsageError(`--filter: ${dimension} is given twice`, {
        hint: `give one value, or ask for it with --by ${dimension}`,
      });
    }
    filters[dimension] = condition.slice(end + 1);
  }
  return filters;
}

/** A JSON document holds the warnings, and a screen the hole; standard error has what the output does not show. */
function warn({ log, flags }: CommandContext, answer: Answer | CausesAnswer | CohortAnswer): void {
  const isCsv = flags.isOn('--csv');
  const hole = isCsv ? describeHole(answer.days) : null;
  const whyNot = isCsv && 'compared' in answer ? answer.compared.why_not : null;
  for (const message of [...answer.warnings, hole, whyNot]) {
    if (message === null) continue;
    log.write({ level: 'warn', event: 'metric-limited', message });
  }
}

/** A metric as the list shows it. */
interface ListedMetric {
  readonly name: string;
  readonly unit: string;
  readonly title: string;
  readonly description: string;
  readonly dimensions: readonly string[];
  /** How its values may be combined. */
  readonly additivity: string;
}

/** Every metric of the dictionary. */
function listMetrics(): ListedMetric[] {
  return askableMetrics.map((metric) => ({
    name: metric.name,
    unit: metric.unit,
    title: metric.title,
    description: metric.doc,
    dimensions: dimensionsOf(metric),
    additivity: additivityOf(metric),
  }));
}

/** Below this width there is no room for the titles; the names say the same. */
const WIDTH_WITH_TITLES = 110;

/** Draws the list of metrics, one per line. The dimensions of all of them are named once, below. */
function renderMetrics(metrics: readonly ListedMetric[], frame: ScreenFrame): string[] {
  const hasTitles = frame.width >= WIDTH_WITH_TITLES;
  const columns = ['metric', 'also by', shrinking('unit'), ...(hasTitles ? [shrinking('title')] : [])];
  const rows = metrics.map(({ name, unit, title, dimensions }) => {
    const further = dimensions.filter((dimension) => !GRAINS.some((grain) => grain === dimension));
    return [name, further.join(', '), unit, ...(hasTitles ? [title] : [])];
  });
  return [
    ...renderTable(columns, rows, frame),
    frame.style.dim(`by ${GRAINS.join(', ')}, and also by what is listed; --json adds descriptions`),
  ];
}

type UnusualOf = Awaited<ReturnType<typeof readUnusualOf>>;
type Row = UnusualOf['rows'][number];

const FOREIGN = ['--sql', '--compare', '--team', '--user'] as const;
const COLUMNS = ['dimension', 'name', 'date', 'value', 'median', 'low', 'high', 'settled'] as const;

/** Shows what of a metric is unusual. */
async function showUnusual(context: CommandContext, asked: AskedMetric): Promise<ExitCode> {
  const { flags, settings, job, out, log } = context;
  const foreign = FOREIGN.find((flag) => flags.isOn(flag) || flags.text(flag) !== undefined);
  if (foreign !== undefined) {
    throw new UsageError(`--unusual and ${foreign} exclude each other`, {
      hint: 'it has --by, --from, --until and --organization',
    });
  }
  const answer = await readUnusualOf(settings, asked, job);
  if (flags.isOn('--csv')) out.print([csvOf(answer).trimEnd()]);
  else out.show(answer, (frame) => renderUnusual(answer, frame));
  for (const message of answer.warnings) log.write({ level: 'warn', event: 'metric-limited', message });
  return EXIT.ok;
}

function csvOf({ rows }: UnusualOf): string {
  return writeCsv(
    COLUMNS,
    rows.map((row) => ({ ...row, settled: row.settled ? 1 : 0 })),
  );
}

const ROWS_SHOWN_MAX = 100;
/** Larger numbers are shown as whole ones. */
const WHOLE_FROM = 1_000;

/** Draws what is unusual, and how much was looked at. */
function renderUnusual(answer: UnusualOf, frame: ScreenFrame): string[] {
  const { rows, looked_at: looked } = answer;
  const sizes = [
    counted(looked.date, 'day'),
    `${counted(looked.team, 'day')} of teams`,
    `${counted(looked.model, 'day')} of models`,
    `${counted(looked.user, 'day')} of people`,
  ];
  const columns = [
    'day',
    'kind',
    shrinking('name'),
    right('value'),
    right('usual'),
    right('low'),
    right('high'),
    '',
  ];
  const listing = renderListing(
    { columns, items: rows, row: (row) => cellsOf(row, frame), shownMax: ROWS_SHOWN_MAX },
    frame,
  );
  return [
    ...(rows.length === 0 ? ['nothing is unusual'] : listing),
    '',
    ...renderProvenance(answer, frame, [`looked at ${sizes.join(', ')}`]).map(frame.style.dim),
  ];
}

function cellsOf({ dimension, name, date, value, median, low, high, settled }: Row, { redact }: ScreenFrame) {
  // Money and other small numbers keep cents.
  const parts = value < WHOLE_FROM ? 100 : 1;
  const numbers = formatMeasured([value, median, low, high].map((one) => Math.round(one * parts) / parts));
  const kind = dimension === 'date' ? 'day' : dimension;
  const shown = name === null ? (dimension === 'team' ? 'unassigned' : 'all') : redact(name);
  return [date, kind, shown, ...numbers, settled ? null : 'may still change'];
}
