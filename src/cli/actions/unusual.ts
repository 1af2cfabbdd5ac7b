import { type AskedMetric, readUnusualOf } from '../../../jobs/metric.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { writeCsv } from '../../csv-files/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { CommandContext } from '../program/command.ts';
import { counted, formatMeasured } from '../screens/numbers.ts';
import { renderProvenance } from '../screens/provenance.ts';
import { renderListing, right, shrinking } from '../screens/table.ts';

type Answer = Awaited<ReturnType<typeof readUnusualOf>>;
type Row = Answer['rows'][number];

const FOREIGN = ['--sql', '--compare', '--team', '--user'] as const;
const COLUMNS = ['dimension', 'name', 'date', 'value', 'median', 'low', 'high', 'settled'] as const;

/** Shows what of a metric is unusual. */
export async function showUnusual(context: CommandContext, asked: AskedMetric): Promise<ExitCode> {
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

function csvOf({ rows }: Answer): string {
  return writeCsv(
    COLUMNS,
    rows.map((row) => ({ ...row, settled: row.settled ? 1 : 0 })),
  );
}

const ROWS_SHOWN_MAX = 100;
/** Larger numbers are shown as whole ones. */
const WHOLE_FROM = 1_000;

/** Draws what is unusual, and how much was looked at. */
function renderUnusual(answer: Answer, frame: ScreenFrame): string[] {
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
