import {
  type AcceptRequest,
  acceptQuarantine,
  listQuarantine,
  type QuarantineList,
} from '../../../jobs/warehouse.ts';
import { parseDay } from '../../core/day.ts';
import { UsageError } from '../../core/errors.ts';
import { EXIT } from '../../core/exit-code.ts';
import { STREAMS } from '../../core/stream.ts';
import { oneOf } from '../../settings/index.ts';
import type { ScreenFrame } from '../output/output.ts';
import type { Action, Flags } from '../program/command.ts';
import { counted } from '../screens/numbers.ts';
import { renderTable, shrinking } from '../screens/table.ts';

const COLUMNS = [
  'organization',
  'stream',
  'date',
  'first seen',
  'accepted',
  shrinking('path'),
  shrinking('reason'),
];

export const listAction: Action = async ({ settings, job, out }) => {
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

export const acceptAction: Action = async ({ settings, job, flags, out }) => {
  const accepted = await acceptQuarantine(settings, requestOf(flags), job);
  out.show({ accepted }, () => [`${counted(accepted, 'record')} accepted`]);
  return EXIT.ok;
};

function requestOf(flags: Flags): AcceptRequest {
  const stream = flags.parse('--stream', oneOf(STREAMS));
  const day = flags.parse('--date', parseDay);
  const isNarrow = stream !== undefined || day !== undefined;
  if (isNarrow === flags.isOn('--all')) {
    const problem = isNarrow ? '--all cannot be combined with --stream or --date' : 'no records are chosen';
    throw new UsageError(problem, {
      hint: 'give --stream, --date or both, or --all; daywalk quarantine list shows the records',
    });
  }
  return { stream, day, organization: flags.text('--organization') };
}
