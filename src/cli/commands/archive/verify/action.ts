import { checkArchive } from '../../../../../jobs/archive-verify.ts';
import type { ArchiveCheck } from '../../../../archive/verify-archive.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { counted, formatBytes } from '../../../text/quantity.ts';
import { renderTable, shrinking } from '../../../text/table.ts';

const COLUMNS = ['found', shrinking('what'), shrinking('units'), shrinking('reason')];

export const act: Action = async ({ settings, out }) => {
  const check = await checkArchive(settings);
  const exitCode = check.findings.length === 0 ? EXIT.ok : EXIT.quarantine;
  const { unusedBytes, ...counts } = check;
  out.show({ exit_code: exitCode, ...counts, unused_bytes: unusedBytes }, (frame) =>
    renderCheck(check, frame),
  );
  return exitCode;
};

function renderCheck(check: ArchiveCheck, frame: ScreenFrame): string[] {
  const { findings, answers, objects, undecided, unusedBytes, torn } = check;
  const notes = [
    `${counted(answers, 'answer')}, ${counted(objects, 'object')}`,
    ...(undecided > 0
      ? [`${counted(undecided, 'answer')} undecided after a kill; the next run decides`]
      : []),
    ...(torn > 0 ? [`${counted(torn, 'line')} torn by a kill; nothing relies on it`] : []),
    ...(unusedBytes > 0
      ? [`${formatBytes(unusedBytes)} not needed; daywalk archive prune removes them`]
      : []),
  ].map((note) => `  ${note}`);
  if (findings.length === 0)
    return [frame.style.green('archive: every line and every object is sound'), ...notes];
  const rows = findings.map(({ kind, what, units, reason }) => [
    kind.replace('-', ' '),
    what,
    units === '' ? null : units,
    frame.redact(reason),
  ]);
  return [
    frame.style.red(`archive: ${counted(findings.length, 'finding')}`),
    ...notes,
    '',
    ...renderTable(COLUMNS, rows, frame),
  ];
}
