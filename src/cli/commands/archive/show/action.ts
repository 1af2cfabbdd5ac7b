import { showArchive } from '../../../../../jobs/archive-show.ts';
import type { ShownAnswer, ShownUnit } from '../../../../archive/show-answers.ts';
import { parseDay } from '../../../../core/day.ts';
import { UsageError } from '../../../../core/errors.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { STREAMS } from '../../../../core/stream.ts';
import { oneOf } from '../../../../settings/parsers/choice.ts';
import type { Flags } from '../../../arguments/flags.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { renderTable, right, shrinking } from '../../../text/table.ts';

const COLUMNS = ['came at', 'verdict', 'outcome', right('rows'), 'emails', shrinking('rows sha-256'), 'run'];

export const act: Action = async ({ settings, flags, out }) => {
  const unit = unitOf(flags);
  const shown = await showArchive(settings, unit);
  const rows = flags.isOn('--rows') ? await shown.rows() : null;
  const answers = shown.answers.map(jsonOf);
  out.show(rows === null ? answers : { answers, rows }, (frame) =>
    rows === null ? renderAnswers(shown.answers, unit, frame) : [...rows],
  );
  return EXIT.ok;
};

function unitOf(flags: Flags): ShownUnit {
  const stream = flags.parse('--stream', oneOf(STREAMS)) ?? 'users';
  const day = flags.parse('--date', parseDay) ?? null;
  if ((day === null) !== (stream === 'readiness')) {
    const problem = day === null ? `${stream} needs a day` : 'readiness has no days';
    throw new UsageError(problem, { hint: day === null ? 'give it with --date' : 'leave --date out' });
  }
  return { stream, day };
}

function jsonOf({ orgId, runId, ...answer }: ShownAnswer) {
  return { org_id: orgId, run_id: runId, ...answer };
}

function renderAnswers(answers: readonly ShownAnswer[], unit: ShownUnit, frame: ScreenFrame): string[] {
  if (answers.length === 0) {
    const name = unit.day === null ? unit.stream : `${unit.stream} ${unit.day}`;
    return [`the archive has no answer about ${name}`];
  }
  const rows = answers.map(({ at, verdict, outcome, rows, emails, object, runId }) => [
    ...[at, verdict, outcome, rows, emails, object, runId],
  ]);
  return renderTable(COLUMNS, rows, frame);
}
