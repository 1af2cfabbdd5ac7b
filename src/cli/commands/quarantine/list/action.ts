import { listQuarantine, type QuarantineList } from '../../../../../jobs/quarantine-list.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { counted } from '../../../text/quantity.ts';
import { renderTable, shrinking } from '../../../text/table.ts';

const COLUMNS = [
  'organization',
  'stream',
  'date',
  'first seen',
  'accepted',
  shrinking('path'),
  shrinking('reason'),
];

export const act: Action = async ({ settings, job, out }) => {
  const list = await listQuarantine(settings, job);
  out.show(list, (frame) => renderList(list, frame));
  return EXIT.ok;
};

function renderList({ records, more }: QuarantineList, frame: ScreenFrame): string[] {
  if (records.length === 0) return ['quarantine is empty'];
  const dayOf = (instant: string | null) => instant?.slice(0, 'YYYY-MM-DD'.length) ?? null;
  const rows = records.map(({ orgId, stream, date, firstSeenAt, acceptedAt, path, reason }) => [
    orgId,
    stream,
    date === '' ? null : date,
    dayOf(firstSeenAt),
    dayOf(acceptedAt),
    frame.redact(path),
    frame.redact(reason),
  ]);
  const rest = more === 0 ? [] : [`and ${counted(more, 'more record')}`];
  // The first column is the organization.
  const from = new Set(records.map(({ orgId }) => orgId)).size > 1 ? 0 : 1;
  const shown = rows.map((row) => row.slice(from));
  return [...renderTable(COLUMNS.slice(from), shown, frame), ...rest];
}
