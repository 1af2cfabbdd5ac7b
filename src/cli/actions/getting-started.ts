import { DEMO_ORGANIZATION, type DemoResult, type QueryResult, runDemo } from '../../../jobs/demo.ts';
import { emulateService } from '../../../jobs/emulate.ts';
import { parseDay } from '../../core/day.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { ScreenFrame } from '../output/output.ts';
import { stopCode } from '../process/stop-signals.ts';
import type { Action } from '../program/command.ts';
import { withHints } from '../remedies.ts';
import { counted, formatBytes, formatDuration, formatNumber } from '../screens/numbers.ts';
import { renderRunSummary } from '../screens/run-summary.ts';
import { namesOf, renderSteps, type Step } from '../screens/sections.ts';
import { type Cell, renderFields, renderTable, type TableFrame } from '../screens/table.ts';

export const demoAction: Action = async ({ flags, job, out, directory, log }) => {
  const message = `emulating a service with ${DEMO_ORGANIZATION.users} people and their history`;
  log.write({ level: 'info', event: 'demo', message });
  const result = await runDemo({ directory, keep: flags.isOn('--keep') }, job);
  const document = { ...result, report: withHints(result.report) };
  out.show(document, (frame) => renderDemo(result, frame), { afterLog: true });
  return result.report.exitCode;
};

const TRY_NEXT = (file: string): readonly Step[] => [
  [`npx daywalk status --warehouse ${file}`, 'what the warehouse holds, day by day'],
  [`npx daywalk dashboard --warehouse ${file}`, 'the same in a browser'],
  [`sqlite3 -box ${file} 'SELECT * FROM model_mix LIMIT 9'`, 'any SQL, with any SQLite client'],
  ['npx daywalk schema', 'every table, view and column'],
  ['npx daywalk demo --keep', 'a second run: settled days are not pulled again'],
  ['npx daywalk emulate --port 8080', 'an emulated service, to try settings and faults'],
];

/** Columns whose values are at most this long, such as days and numbers, are never cut. */
const WHOLE_CELL_MAX = 16;

const REAL_SERVICE: readonly Step[] = [
  ['export DAYWALK_BASE_URL=https://api.example.com  # the main API host'],
  ['export DAYWALK_API_KEY_FILE=key.txt              # key of an Owner or Manager'],
  ['npx daywalk run --dry-run && npx daywalk run'],
];

/** Draws what a demo did, the results of example queries, and what to try next. */
function renderDemo(result: DemoResult, frame: ScreenFrame): string[] {
  const { report, file, insights } = result;
  const warehouse = namesOf(file, true);
  if (report.exitCode !== EXIT.ok) return renderRunSummary(report, { ...frame, warehouse });
  return [
    ...headline(result, frame),
    ...insights.flatMap((insight) => ['', ...renderInsight(insight, frame)]),
    ...renderSteps('Try next', TRY_NEXT(file), frame),
    ...renderSteps('With the real service', REAL_SERVICE, frame),
  ];
}

function headline({ report, file, bytes }: DemoResult, frame: TableFrame): string[] {
  const { unitsDone, rowsWritten, requests, durationMs, firstDay, lastDay } = report;
  const pace =
    durationMs > 0 ? `, ${formatNumber(Math.round((requests * 1_000) / durationMs))} per second` : '';
  return [
    frame.style.green(
      `${counted(unitsDone, 'unit')} (stream and day) exported in ${formatDuration(durationMs)}`,
    ),
    '',
    ...renderFields(
      [
        ['days', `${firstDay ?? ''} to ${lastDay ?? ''}, each stored whole`],
        ['rows written', rowsWritten],
        ['requests', `${formatNumber(requests)} over TCP${pace}`],
        ['warehouse', `${file}, ${formatBytes(bytes)}`],
      ],
      frame,
    ),
  ];
}

function renderInsight({ query, columns, rows }: QueryResult, frame: TableFrame): string[] {
  const numeric = columns.map((_, index) => rows.some((row) => typeof row[index] === 'number'));
  const header = columns.map((name, index) => ({
    header: name.replaceAll('_', ' '),
    align: numeric[index] === true ? ('right' as const) : ('left' as const),
    shrinks: rows.some((row) => String(row[index] ?? '').length > WHOLE_CELL_MAX),
  }));
  const body = rows.map((row): Cell[] => [...row]);
  return [frame.style.bold(query.title), ...renderTable(header, body, { ...frame, indent: 2 })];
}

const BOUNDS = {
  port: { min: 0, max: 65_535 },
  seed: { min: 0, max: 2 ** 31 - 1 },
  users: { min: 0, max: 1_000_000 },
  reports: { min: 0, max: 1_000_000 },
  latencyMs: { min: 0, max: 600_000 },
  journal: { min: 0, max: 100_000 },
} as const;

/** Prints one line of JSON when the service listens, then serves until a signal. */
export const emulateAction: Action = async ({ flags, job, out, log, settings }) => {
  await emulateService(
    {
      port: flags.number('--port', BOUNDS.port) ?? 0,
      host: flags.text('--host'),
      token: settings.emulateToken ?? undefined,
      seed: flags.number('--seed', BOUNDS.seed),
      users: flags.number('--users', BOUNDS.users),
      reports: flags.number('--reports', BOUNDS.reports),
      today: flags.parse('--today', parseDay),
      apiKey: flags.text('--api-key'),
      latencyMs: flags.number('--latency-ms', BOUNDS.latencyMs),
      journalEntriesMax: flags.number('--journal', BOUNDS.journal),
      rulesFile: flags.text('--rules'),
      quirksFile: flags.text('--quirks'),
      realistic: flags.isOn('--realistic'),
      daysFile: flags.text('--days'),
      archive: flags.text('--archive'),
      organization: flags.text('--organization'),
    },
    job,
    (service) => {
      out.line(service);
      if (settings.log === 'pretty') {
        log.write({
          level: 'info',
          event: 'listening',
          message: `serving until stopped; the journal of requests is at ${service.url}/__admin/journal`,
        });
      }
    },
  );
  return stopCode(job.signal);
};
