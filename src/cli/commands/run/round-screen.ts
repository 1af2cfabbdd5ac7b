import type { OrganizationOutcome, RoundReport } from '../../../../jobs/run-round.ts';
import { adviceOf, messageOf } from '../../../core/errors.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { describeExitCode } from '../../../core/exit-meaning.ts';
import type { RunProblem } from '../../../pipeline/events.ts';
import { failureOf } from '../../program/failure.ts';
import { withHints } from '../../remedies.ts';
import { renderProblems } from '../../screens/problems.ts';
import type { SummaryFrame } from '../../screens/run-summary.ts';
import { section } from '../../screens/section.ts';
import { renderSteps, type Step } from '../../screens/steps.ts';
import { escapeForTerminal } from '../../text/escape.ts';
import { counted, formatNumber } from '../../text/quantity.ts';
import { type Cell, renderTable, right, shrinking } from '../../text/table.ts';

/** Builds the JSON document of a round. */
export function roundDocument(round: RoundReport): unknown {
  const organizations = round.organizations.map(({ name, orgId, exitCode, report, error }) => {
    const { message, hint } = failureOf(error);
    return {
      ...{ name, orgId, exitCode },
      report: report === null ? null : withHints(report),
      error: report === null ? { message, hint } : null,
    };
  });
  return { ...round, organizations };
}

/** Draws what a round did for each organization, the problems of each, and the next steps. */
export function renderRound(round: RoundReport, frame: SummaryFrame): string[] {
  const columns = [
    shrinking('organization'),
    shrinking('id'),
    ...['exit', 'units', 'failed', 'left out', 'rows', 'requests'].map(right),
  ];
  const rows = round.organizations.map((outcome) => rowOf(outcome, frame));
  return [
    headline(round, frame),
    '',
    ...renderTable(columns, rows, { ...frame, indent: 2 }),
    ...round.organizations.flatMap((outcome) =>
      section(
        `Problems of ${escapeForTerminal(frame.redact(outcome.name ?? outcome.orgId ?? 'the organization'))}`,
        renderProblems(problemsOf(outcome), frame),
        frame,
      ),
    ),
    ...renderSteps('Next', nextOf(round, frame), frame),
  ];
}

function headline({ command, exitCode, organizations }: RoundReport, { style }: SummaryFrame): string {
  const all = counted(organizations.length, 'organization');
  if (exitCode === EXIT.ok) return style.green(`${command}: complete, ${all}`);
  const complete = organizations.filter((outcome) => outcome.exitCode === EXIT.ok).length;
  const text = `${command}: ${formatNumber(complete)} of ${all} complete; exit code ${exitCode}, ${describeExitCode(exitCode)}`;
  return paintOf(exitCode, style)(text);
}

function rowOf(
  { name, orgId, exitCode, report }: OrganizationOutcome,
  { style, redact }: SummaryFrame,
): Cell[] {
  const numbers =
    report === null
      ? [null, null, null, null, null]
      : [report.unitsDone, report.unitsFailed, report.unitsLeftOut, report.rowsWritten, report.requests];
  const paint = paintOf(exitCode, style);
  return [
    redact(name ?? ''),
    orgId === null ? null : redact(orgId),
    { content: exitCode, paint },
    ...numbers,
  ];
}

function paintOf(exitCode: ExitCode, style: SummaryFrame['style']) {
  if (exitCode === EXIT.ok) return style.green;
  return exitCode === EXIT.upstream || exitCode === EXIT.quarantine ? style.yellow : style.red;
}

function problemsOf({ report, error }: OrganizationOutcome): readonly RunProblem[] {
  return report === null ? [{ message: messageOf(error), ...adviceOf(error), units: 0 }] : report.problems;
}

function nextOf({ exitCode }: RoundReport, { warehouse: { flag } }: SummaryFrame): Step[] {
  const status: Step = [`daywalk status${flag}`, 'what the warehouse holds of each organization, day by day'];
  if (exitCode === EXIT.ok) return [status];
  const again: Step = [`daywalk run${flag} --organization NAME`, 'exports one organization again'];
  const config: Step = ['daywalk config', 'the organizations, their key files, and every problem with them'];
  return [config, again, status];
}
