import {
  type AskedMetric,
  CAUSES_NAME,
  readCausesOf,
  readMetric,
  readMetricSql,
} from '../../../jobs/metric.ts';
import {
  additivityOf,
  allMetrics,
  DIMENSIONS,
  type Dimension,
  dimensionsOf,
  GRAINS,
} from '../../../schema/metrics/dictionary.ts';
import { type CausesAnswer, type ComparedAnswer, parseComparison } from '../../comparison/index.ts';
import { parseDay } from '../../core/day.ts';
import { nearestName, UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { writeCsv } from '../../csv-files/index.ts';
import type { MetricAnswer, MetricRow } from '../../metrics/index.ts';
import { UNASSIGNED } from '../../rollups/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action, CommandContext, Flags } from '../program/command.ts';
import { formatMeasured, formatNumber } from '../screens/numbers.ts';
import { describeHole, renderProvenance } from '../screens/provenance.ts';
import { type Cell, renderTable, right, shrinking } from '../screens/table.ts';

/** One metric over one span, or over two. */
type Answer = MetricAnswer | ComparedAnswer;

const FORMATS = ['--json', '--csv', '--sql'] as const;
const QUESTION_FLAGS = [
  '--by',
  '--from',
  '--until',
  '--team',
  '--user',
  '--compare',
  '--organization',
] as const;

export const metricAction: Action = async (context) => {
  const { flags, operands, settings, job, out } = context;
  refuseSeveralFormats(flags);
  const [name] = operands;
  if (name === undefined) return showList(context);
  const asked = askedMetric(name, flags);
  if (name === CAUSES_NAME) return showCauses(context, asked);
  if (flags.isOn('--sql')) {
    if (asked.compare !== undefined) {
      throw new UsageError('--sql and --compare exclude each other', {
        hint: 'ask for the SQL of each span, with --from and --until',
      });
    }
    out.print([`${await readMetricSql(settings, asked, job)};`]);
    return EXIT.ok;
  }
  const answer = await readMetric(settings, asked, job);
  if (flags.isOn('--csv')) out.print([metricCsv(asked.by, answer).trimEnd()]);
  else out.show(answer, (frame) => renderAnswer(asked.by, answer, frame));
  warn(context, answer);
  return EXIT.ok;
};

async function showCauses(context: CommandContext, asked: AskedMetric): Promise<ExitCode> {
  const { flags, settings, job, out } = context;
  const foreign = (['--by', '--user', '--sql'] as const).find(
    (flag) => flags.isOn(flag) || flags.text(flag) !== undefined,
  );
  if (foreign !== undefined) {
    throw new UsageError(`${CAUSES_NAME} has no ${foreign}`, {
      hint: 'it has --from, --until, --team, --compare and --organization',
    });
  }
  const answer = await readCausesOf(settings, asked, job);
  if (flags.isOn('--csv')) {
    const columns = ['cause', 'value', 'factor_before', 'factor', 'from', 'until'] as const;
    out.print([writeCsv(columns, answer.rows).trimEnd()]);
  } else out.show(answer, (frame) => renderCauses(answer, frame));
  warn(context, answer);
  return EXIT.ok;
}

/** Draws causes: what each has added to the cost, and what it was before and is now. */
function renderCauses(answer: CausesAnswer, frame: ScreenFrame): string[] {
  const { rows, unit, change } = answer;
  const values = rows.flatMap(({ value }) => value ?? []);
  const numbers = formatMeasured(change === null ? values : [...values, change]).values();
  const cellOf = (value: number | null) => (value === null ? null : (numbers.next().value ?? null));
  const factorOf = (factor: number | null) =>
    factor === null ? null : (formatMeasured([Number(factor.toPrecision(FACTOR_DIGITS))])[0] ?? null);
  const cells = [
    ...rows.map(({ cause, value, factor, factor_before }) => [
      cause,
      cellOf(value),
      factorOf(factor_before),
      factorOf(factor),
    ]),
    ['change', cellOf(change), null, null],
  ];
  return [
    ...renderTable(['cause', right(`change (${unit})`), right('from'), right('to')], cells, frame),
    '',
    ...renderProvenance(answer, frame, [comparedWords(answer.compared)]).map(frame.style.dim),
  ];
}

/** More digits of a mean do not help. */
const FACTOR_DIGITS = 4;

function showList({ flags, out }: CommandContext): ExitCode {
  const first = QUESTION_FLAGS.find((given) => flags.text(given) !== undefined);
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
    compare: flags.isOn('--compare') ? 'previous' : flags.parse('--compare', parseComparison),
    organization: flags.text('--organization'),
  };
}

function parseDimensions(list: string): Dimension[] {
  return list.split(',').map((name) => parseDimension(name.trim()));
}

/** A JSON document holds the warnings, and a screen the hole; standard error has what the output does not show. */
function warn({ log, flags }: CommandContext, answer: Answer | CausesAnswer): void {
  const isCsv = flags.isOn('--csv');
  const hole = isCsv ? describeHole(answer.days) : null;
  const whyNot = isCsv && 'compared' in answer ? answer.compared.why_not : null;
  for (const message of [...answer.warnings, hole, whyNot]) {
    if (message === null) continue;
    log.write({ level: 'warn', event: 'metric-limited', message });
  }
}

/** The longest table. JSON and CSV have every row. */
const ROWS_SHOWN_MAX = 1_000;
/** Dimensions whose values are short and would be useless if they were cut. */
const FIXED: readonly Dimension[] = ['date', 'week', 'month'];

/** Draws an answer: a table, and what it rests on. */
function renderAnswer(by: readonly Dimension[], answer: Answer, frame: ScreenFrame): string[] {
  const { metric, unit, rows } = answer;
  const isCompared = 'compared' in answer;
  const columns = [
    ...by.map((name) => (FIXED.includes(name) ? name : shrinking(name))),
    right(headerOf(metric, unit)),
    ...(isCompared ? [right('before'), right('change')] : []),
  ];
  const shown = rows.slice(0, ROWS_SHOWN_MAX);
  const cells = cellsOf(by, shown, isCompared ? ['value', 'before'] : ['value'], frame);
  if (isCompared)
    for (const [index, row] of cells.entries()) row.push(changeWords(shown[index]?.['change'], unit));
  const more = rows.length - ROWS_SHOWN_MAX;
  const { dim, yellow } = frame.style;
  // A number over a hole must not look complete.
  const paint = answer.days.missing.length > 0 ? yellow : dim;
  return [
    ...(rows.length === 0 ? ['nothing occurred in this period'] : renderTable(columns, cells, frame)),
    ...(more > 0 ? [dim(`and ${formatNumber(more)} more rows; --csv and --json have them all`)] : []),
    '',
    ...renderProvenance(answer, frame, isCompared ? [comparedWords(answer.compared)] : []).map(paint),
  ];
}

function comparedWords({ from, until, why_not }: ComparedAnswer['compared']): string {
  const span = from === until ? from : `${from} to ${until}`;
  if (from === null) return `not compared: ${why_not}`;
  return why_not === null ? `compared with ${span}` : `not compared with ${span}: ${why_not}`;
}

/** `+3.1 %`; the difference of two shares in percentage points. */
function changeWords(change: unknown, unit: string): string | null {
  if (typeof change !== 'number') return null;
  const percent = (100 * change).toFixed(1);
  return `${change > 0 ? '+' : ''}${percent === '-0.0' ? '0.0' : percent} ${unit === 'ratio' ? 'points' : '%'}`;
}

function headerOf(metric: string, unit: string): string {
  return unit === metric ? metric : `${metric} (${unit})`;
}

function cellsOf(
  by: readonly Dimension[],
  rows: readonly MetricRow[],
  measured: readonly string[],
  { redact }: ScreenFrame,
): Cell[][] {
  const known = rows
    .flatMap((row) => measured.map((name) => row[name]))
    .filter((value) => typeof value === 'number');
  const numbers = formatMeasured(known).values();
  return rows.map((row) => [
    ...by.map((name) => partOf(name, row[name] ?? null, redact)),
    ...measured.map((name) => (typeof row[name] === 'number' ? (numbers.next().value ?? null) : null)),
  ]);
}

function partOf(
  name: Dimension,
  value: string | number | null,
  redact: (text: string) => string,
): string | null {
  if (value === null) return name === 'team' ? UNASSIGNED : null;
  return redact(String(value));
}

/**
 * An answer as CSV: the dimensions and `value`; of two spans, also `before` and `change`. Numbers have all their digits; one
 * that is not known is empty.
 */
function metricCsv(by: readonly Dimension[], answer: Answer): string {
  const { rows } = answer;
  const named = rows.map((row) =>
    'team' in row && row['team'] === null ? { ...row, team: UNASSIGNED } : row,
  );
  return writeCsv<string>([...by, 'value', ...('compared' in answer ? ['before', 'change'] : [])], named);
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
  return allMetrics.map((metric) => ({
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

/**
 * Parses the name of a dimension.
 * @throws {UsageError} for a name that is no dimension.
 */
export function parseDimension(name: string): Dimension {
  const found = DIMENSIONS.find((dimension) => dimension === name);
  if (found !== undefined) return found;
  const nearest = nearestName(name, DIMENSIONS);
  throw new UsageError(`"${name}" is not a dimension`, {
    hint: nearest === undefined ? `choose from ${DIMENSIONS.join(', ')}` : `did you mean ${nearest}?`,
  });
}
