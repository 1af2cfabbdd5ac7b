import { describeExitCode, EXIT } from '../../core/exit-code.ts';
import type { RunReport } from '../../pipeline/index.ts';
import { UNIT_STATES } from '../../units/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import { counted, formatDuration, formatNumber } from './numbers.ts';
import type { WarehouseNames } from './sections.ts';
import { renderProblems, renderSteps, type Step, section } from './sections.ts';
import { type Field, renderFields } from './table.ts';

export interface SummaryFrame extends ScreenFrame {
  readonly warehouse: WarehouseNames;
}

/** Draws what a run did, its problems, and the next steps. */
export function renderRunSummary(report: RunReport, frame: SummaryFrame): string[] {
  return [
    headline(report, frame),
    '',
    ...renderFields(fieldsOf(report), frame),
    ...section('Problems', renderProblems(report.problems, frame), frame),
    ...nextOf(report, frame),
  ];
}

function headline(report: RunReport, { style }: SummaryFrame): string {
  const { command, exitCode, unitsPlanned, unitsDone, unitsElsewhere } = report;
  if (exitCode === EXIT.ok && unitsPlanned === 0)
    return style.green(`${command}: nothing to do, every day is settled or was seen today`);
  if (exitCode === EXIT.ok) {
    const awaiting = report.states.awaiting ?? 0;
    const late = awaiting === 0 ? '' : `; ${formatNumber(awaiting)} await the daily batch`;
    return style.green(
      `${command}: complete, ${counted(unitsDone + unitsElsewhere, 'unit')} in the warehouse${late}`,
    );
  }
  const paint = exitCode === EXIT.upstream || exitCode === EXIT.quarantine ? style.yellow : style.red;
  const isBegun = report.orgId !== null || exitCode !== EXIT.upstream;
  const meaning = isBegun
    ? describeExitCode(exitCode)
    : 'the service could not be reached; nothing was pulled';
  return paint(`${command}: exit code ${exitCode}, ${meaning}`);
}

function fieldsOf(report: RunReport): Field[] {
  const { unitsDone, unitsElsewhere, unitsFailed, unitsLeftOut, unitsPlanned } = report;
  const states = UNIT_STATES.flatMap((state) => {
    const units = report.states[state] ?? 0;
    return units === 0 ? [] : [`${formatNumber(units)} ${state}`];
  });
  const days =
    report.firstDay === null ? 'none planned' : `${report.firstDay} to ${report.lastDay ?? report.firstDay}`;
  const retries = counted(report.retries, 'retry', 'retries');
  return [
    ['organization', organizationOf(report)],
    ['days', days],
    [
      'units',
      `${formatNumber(unitsPlanned)} planned: ${[
        `${formatNumber(unitsDone)} done`,
        ...(unitsElsewhere === 0 ? [] : [`${formatNumber(unitsElsewhere)} by other workers`]),
        `${formatNumber(unitsFailed)} failed`,
        `${formatNumber(unitsLeftOut)} left out`,
      ].join(', ')}`,
    ],
    ...(report.command === 'backfill' && report.unitsSettled > 0
      ? [
          [
            'not pulled',
            `${counted(report.unitsSettled, 'settled unit')}; --force pulls settled units too`,
          ] as const,
        ]
      : []),
    ...(states.length === 0 ? [] : [['states', states.join(', ')] as const]),
    ['rows written', report.rowsWritten],
    ['restatements', report.restatements],
    ['quarantined', counted(report.quarantined, 'record')],
    ...(report.unitsDoubted === 0
      ? []
      : [['doubted', `${counted(report.unitsDoubted, 'unit')}; the stored rows are kept`] as const]),
    ...(report.unitsUnstable === 0
      ? []
      : [['unstable', `${counted(report.unitsUnstable, 'unit')}, whose answers go back and forth`] as const]),
    ...(report.daysReopened === 0
      ? []
      : [
          ['reopened', `${counted(report.daysReopened, 'settled day')} that changed at the service`] as const,
        ]),
    ['requests', `${formatNumber(report.requests)}, including ${retries}`],
    ['duration', formatDuration(report.durationMs)],
  ];
}

/** How many organizations are named; a warehouse may hold thousands. */
const ORGANIZATIONS_SHOWN_MAX = 3;

function organizationOf({ orgId, exitCode, organizationsBefore: before = [] }: RunReport): string {
  if (orgId === null && exitCode === EXIT.quarantine) return 'not the expected one: nothing was stored';
  if (orgId === null) return 'unknown: the run ended before the service named it';
  if (before.length === 0) return orgId;
  const shown = before.slice(0, ORGANIZATIONS_SHOWN_MAX).join(', ');
  const more = before.length > ORGANIZATIONS_SHOWN_MAX ? ', …' : '';
  return `${orgId}, new in this warehouse; it already held ${shown}${more}`;
}

function nextOf(
  { exitCode, runId, orgId, unitsFailed, unitsLeftOut, unitsDoubted, quarantined: records }: RunReport,
  frame: SummaryFrame,
): string[] {
  const { warehouse } = frame;
  const again = [`daywalk run${warehouse.flag}`, 'fetches what is missing and keeps what is stored'] as const;
  const status = [`daywalk status${warehouse.flag}`, 'what the warehouse holds, day by day'] as const;
  const config = ['daywalk config', 'the effective settings and their sources'] as const;
  const quarantined = [
    `daywalk quarantine list${warehouse.flag}`,
    'the quarantined records; quarantine accept if nobody will repair them',
  ] as const;
  const accept = [
    `daywalk run --accept-loss${warehouse.flag}`,
    'only if the doubted rows are gone for good; otherwise wait until they return or the loss is accepted',
  ] as const;
  const steps: Partial<Record<number, readonly Step[]>> = {
    [EXIT.ok]: [status],
    [EXIT.upstream]: orgId === null ? [config, again] : [again, status],
    [EXIT.quarantine]: [
      ...(orgId === null ? [config] : []),
      ...(unitsFailed + unitsLeftOut > 0 ? [again] : []),
      ...(orgId !== null && (records > 0 || unitsDoubted === 0) ? [quarantined] : []),
      status,
      ...(unitsDoubted > 0 ? [accept] : []),
    ],
    [EXIT.credential]: [config],
    [EXIT.usage]: [config],
  };
  const next = renderSteps('Next', steps[exitCode] ?? [again], frame);
  return [...next, '', frame.style.dim(`run ${runId}`)];
}
