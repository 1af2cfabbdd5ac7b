import { listQuarantine, type QuarantineList } from '../../../../../jobs/quarantine-list.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { counted } from '../../../text/quantity.ts';
import { renderTable, shrinking } from '../../../text/table.ts';

const COLUMNS = ['stream', 'date', 'first seen', 'accepted', shrinking('path'), shrinking('reason')];

export const act: Action = async ({ settings, job, out }) => {
  const list = await listQuarantine(settings, job);
  out.show(list, (frame) => renderList(list, frame));
  return EXIT.ok;
};

function renderList({ records, more }: QuarantineList, frame: ScreenFrame): string[] {
  if (records.length === 0) return ['quarantine is empty'];
  const dayOf = (instant: string | null) => instant?.slice(0, 'YYYY-MM-DD'.length) ?? null;
  const rows = records.map(({ stream, date, firstSeenAt, acceptedAt, path, reason }) => [
    stream,
    date === '' ? null : date,
    dayOf(firstSeenAt),
    dayOf(acceptedAt),
    frame.redact(path),
    frame.redact(reason),
  ]);
  const rest = more === 0 ? [] : [`and ${counted(more, 'more record')}`];
  return [...renderTable(COLUMNS, rows, frame), ...rest];
}
