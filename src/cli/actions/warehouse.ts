import { resolve } from 'node:path';
import { type BackupReport, backUp } from '../../../jobs/backup.ts';
import { copyWarehouse } from '../../../jobs/copy.ts';
import { type ReplayResult, replay } from '../../../jobs/replay.ts';
import { type RestoreReport, type RestoreTest, restore, testRestore } from '../../../jobs/restore.ts';
import { adopt, type UpgradeReport, upgradeWarehouse } from '../../../jobs/warehouse.ts';
import type { CopiedTable, CopyReport } from '../../copy/index.ts';
import { EXIT } from '../../core/exit-code.ts';
import { STREAMS } from '../../core/stream.ts';
import { parseInstant, parseWarehouse, SETTINGS } from '../../settings/index.ts';
import type { Action } from '../program/command.ts';
import { readDayRange } from '../program/flag-values.ts';
import { counted, formatBytes, formatDuration, formatNumber } from '../screens/numbers.ts';
import { namesOf, renderSteps, type Step } from '../screens/sections.ts';
import {
  type Field,
  renderFields,
  renderTable,
  right,
  shrinking,
  type TableFrame,
} from '../screens/table.ts';

export const adoptAction: Action = async ({ settings, job, flags, operands, out }) => {
  const [id = ''] = operands;
  const { warehouse, accepted, lost } = await adopt(settings, id, { ...job, wait: flags.isOn('--wait') });
  out.show({ warehouse, accepted, lost }, () =>
    accepted
      ? ['accepted', ...lost.map((line) => `  ${line}`)]
      : [`nothing to accept as ${id}: a run accepts what is there`],
  );
  return EXIT.ok;
};

export const copyAction: Action = async ({ settings, job, flags, out }) => {
  const request = {
    to: flags.parse('--to', parseWarehouse) ?? '',
    replace: flags.isOn('--replace'),
    wait: flags.isOn('--wait'),
  };
  const report = await copyWarehouse(settings, request, job);
  out.show(report, (frame) => renderCopy(report, frame), { afterLog: true });
  return report.exitCode;
};

/** Draws what a copy did, table by table, and whether both sides are now the same. */
function renderCopy(report: CopyReport, frame: TableFrame): string[] {
  return [
    headline(report, frame),
    '',
    ...renderFields(copiedFields(report), frame),
    '',
    ...renderTables(report, frame),
    ...renderSteps('Next', nextOf(report), frame),
  ];
}

function headline({ exitCode, rowsWritten, tables }: CopyReport, { style }: TableFrame): string {
  if (exitCode !== EXIT.ok) {
    const different = tables.filter(({ isSame }) => !isSame).map(({ table }) => table);
    return style.red(`copy: the two differ in ${different.join(', ')}`);
  }
  return style.green(
    rowsWritten === 0 ? 'copy: nothing to do, both are the same' : 'copy: complete, both are the same',
  );
}

function copiedFields(report: CopyReport): Field[] {
  const { unitsMoved, unitsUnchanged, unitsRemoved, digest } = report;
  const isSameDigest = digest.from === digest.to;
  return [
    ['from', report.from],
    ['to', report.to],
    [
      'units',
      `${formatNumber(unitsMoved)} moved, ${formatNumber(unitsUnchanged)} unchanged, ${formatNumber(unitsRemoved)} removed`,
    ],
    ['rows written', report.rowsWritten],
    ['digest', isSameDigest ? digest.from : `${digest.from} at the source, ${digest.to} at the destination`],
    ['duration', formatDuration(report.durationMs)],
  ];
}

function renderTables({ tables }: CopyReport, frame: TableFrame): string[] {
  const numbers = ['rows', 'written', 'removed'].map(right);
  const columns = [shrinking('table'), ...numbers, 'compared'];
  const rows = tables
    .filter((table) => !isIdle(table))
    .map(({ table, rows, written, removed, isSame }) => [
      table,
      rows,
      written,
      removed,
      isSame ? 'same' : { content: 'differs', paint: frame.style.red },
    ]);
  const empty = tables.filter(isIdle).length;
  const rest = empty === 0 ? [] : [frame.style.dim(`  and ${counted(empty, 'empty table')}`)];
  return [...renderTable(columns, rows, { ...frame, indent: 2 }), ...rest];
}

function isIdle({ rows, written, removed, isSame }: CopiedTable): boolean {
  return isSame && rows === 0 && written === 0 && removed === 0;
}

function nextOf({ exitCode, from, to }: CopyReport): readonly Step[] {
  const [source, copy] = [namesOf(from, true), namesOf(to, true)];
  if (exitCode !== EXIT.ok) {
    const repair = `daywalk copy${source.flag} --to ${copy.name} --replace`;
    return [[repair, 'compares every row, and repairs what another program has changed']];
  }
  return [
    [`daywalk status${copy.flag}`, 'what the copy holds, day by day'],
    [`daywalk run${copy.flag}`, 'continues there; set DAYWALK_WAREHOUSE to make that permanent'],
  ];
}

/** Backups of two weeks. */
const KEEP = 14;
const KEEP_MAX = 10_000;

export const backupAction: Action = async ({ settings, job, flags, operands, out, directory }) => {
  const [path = ''] = operands;
  const report = await backUp(
    settings,
    {
      ...{ path: resolve(directory, path), isFolder: /[/\\]$/.test(path) },
      keep: flags.number('--keep', { min: 1, max: KEEP_MAX }) ?? KEEP,
      withArchive: flags.isOn('--with-archive'),
    },
    job,
  );
  out.show(report, (frame) => renderBackup(report, frame), { afterLog: true });
  return report.exitCode;
};

function renderBackup(
  { warehouse, archive, removed, durationMs }: BackupReport,
  frame: TableFrame,
): string[] {
  const damages = archive?.damages ?? 0;
  return [
    damages === 0
      ? frame.style.green('backup: complete, every table was compared with the warehouse')
      : frame.style.red('backup: complete, but the archive is damaged: daywalk archive verify lists what'),
    '',
    ...renderFields(
      [
        ['file', `${warehouse.path}, ${formatBytes(warehouse.bytes)}`],
        ...(archive === null ? [] : [['archive', `${archive.path}, ${formatBytes(archive.bytes)}`] as Field]),
        ['tables', `${counted(warehouse.tables, 'table')}, ${counted(warehouse.rows, 'row')}`],
        ['backup', warehouse.id],
        ...(removed.length === 0 ? [] : [['removed', counted(removed.length, 'older file')] as Field]),
        ['duration', formatDuration(durationMs)],
      ],
      frame,
    ),
  ];
}

export const restoreAction: Action = async ({ settings, job, flags, operands, out, directory }) => {
  const [path = ''] = operands;
  const request = { file: resolve(directory, path), withArchive: flags.isOn('--with-archive') };
  if (flags.isOn('--test')) {
    const tested = await testRestore(settings, request, job);
    out.show(tested, (frame) => renderTest(tested, frame), { afterLog: true });
    return tested.exitCode;
  }
  const report = await restore(
    settings,
    { ...request, replace: flags.isOn('--replace'), wait: flags.isOn('--wait') },
    job,
  );
  out.show(report, (frame) => renderRestore(report, frame), { afterLog: true });
  return report.exitCode;
};

function renderRestore(report: RestoreReport, frame: TableFrame): string[] {
  const different = report.tables.filter(({ isSame }) => !isSame).map(({ table }) => table);
  const { exitCode, to, archive } = report;
  const heading =
    different.length > 0
      ? frame.style.red(`restore: the warehouse differs from the backup in ${different.join(', ')}`)
      : exitCode === EXIT.ok
        ? frame.style.green('restore: complete')
        : frame.style.red('restore: complete, but erasures since the backup are unknown');
  return [
    heading,
    '',
    ...renderFields(
      [['to', to], ...(archive === null ? [] : [['archive', archive] as Field]), ...restoredFields(report)],
      frame,
    ),
  ];
}

function renderTest(test: RestoreTest, frame: TableFrame): string[] {
  const damages = test.archiveDamages;
  return [
    test.exitCode === EXIT.ok
      ? frame.style.green('restore test: the backup can be restored')
      : frame.style.red('restore test: failed'),
    '',
    ...renderFields(
      [
        ...restoredFields(test),
        ['verified', test.broken === 0 ? 'nothing contradicts' : counted(test.broken, 'broken part')],
        ...(damages === null
          ? []
          : [['archive', damages === 0 ? 'sound' : counted(damages, 'damage')] as Field]),
      ],
      frame,
    ),
  ];
}

function restoredFields({
  file,
  backup,
  rows,
  knowsErasures,
  erasuresApplied,
  digest,
  durationMs,
}: Omit<RestoreReport, 'to' | 'archive'>): Field[] {
  return [
    ['from', file],
    ['taken', backup === null ? 'unknown: a warehouse that is no backup' : backup.takenAt],
    ['rows', formatNumber(rows)],
    ['erasures since', knowsErasures ? `${formatNumber(erasuresApplied)} entries applied` : 'unknown'],
    ['digest', digest],
    ['duration', formatDuration(durationMs)],
  ];
}

export const upgradeAction: Action = async ({ settings, job, flags, directory, out }) => {
  const file = flags.text('--backup');
  const backup = file === undefined ? undefined : resolve(directory, file);
  const report = await upgradeWarehouse(settings, { isDryRun: flags.isOn('--dry-run'), backup }, job);
  out.show(report, () => renderUpgrade(report), { afterLog: true });
  return EXIT.ok;
};

function renderUpgrade({ location, from, to, dry_run: isDryRun, backup }: UpgradeReport): string[] {
  if (from === to) return [`${location} has version ${to}: nothing to do`];
  const change = `from version ${from} to ${to}`;
  if (isDryRun) return [`${location} would be upgraded ${change}; nothing was changed`];
  return [
    ...(backup === null
      ? []
      : [`backed up to ${backup.path}: ${counted(backup.rows, 'row')}, ${formatBytes(backup.bytes)}`]),
    `upgraded ${location} ${change}`,
  ];
}

/** Units that are named at most. */
const UNITS_NAMED_MAX = 5;

export const replayAction: Action = async ({ settings, job, flags, log, out }) => {
  const result = await replay(
    settings,
    {
      ...readDayRange(flags, { clock: job.clock, log }),
      streams: flags.like('--streams', SETTINGS.streams) ?? STREAMS,
      asOf: flags.parse('--as-of', parseInstant),
      wait: flags.isOn('--wait'),
    },
    job,
  );
  out.show(replayJson(result), (frame) => renderReplay(result, frame), { afterLog: true });
  return result.exitCode;
};

function replayJson({ exitCode, from, until, asOf, organizations, lost }: ReplayResult) {
  return {
    exit_code: exitCode,
    from,
    until,
    as_of: asOf,
    requests: 0,
    lost,
    organizations: organizations.map(({ orgId, rowsWritten, exitCode: _code, ...units }) => ({
      ...{ org_id: orgId, ...units, rows_written: rowsWritten },
    })),
  };
}

function renderReplay(
  { exitCode, from, until, asOf, organizations, lost }: ReplayResult,
  frame: TableFrame,
): string[] {
  const what = asOf === null ? `${from} to ${until}` : `${from} to ${until} as of ${asOf}`;
  const damaged = [...lost, ...organizations.flatMap((own) => own.damaged)];
  const unreadable = named('left out, because the archive is damaged', damaged, 'archive verify');
  if (organizations.length === 0)
    return [`replay: the archive has no committed answer of ${what}`, ...unreadable];
  const paint = exitCode === EXIT.ok ? frame.style.green : frame.style.yellow;
  const columns = ['organization', ...['stored', 'unchanged', 'newer', 'rows written'].map(right)];
  const rows = organizations.map(({ orgId, stored, same, newer, rowsWritten }) => [
    ...[orgId, stored, same, newer.length, rowsWritten],
  ]);
  return [
    paint(`replay: ${what}, without a request`),
    '',
    ...renderTable(columns, rows, frame),
    ...organizations.flatMap(({ newer, quarantined }) => [
      ...named('stayed as they are, because the warehouse has pulled them later than the archive', newer),
      ...named('have records in quarantine', quarantined, 'quarantine list'),
    ]),
    ...unreadable,
  ];
}

function named(what: string, units: readonly string[], command?: string): string[] {
  if (units.length === 0) return [];
  return [
    '',
    `${what}: ${fewOf(units)}${command === undefined ? '' : `; daywalk ${command} names all of them`}`,
  ];
}

function fewOf(units: readonly string[]): string {
  const names = units.slice(0, UNITS_NAMED_MAX).join(', ');
  const others = units.length - UNITS_NAMED_MAX;
  return others > 0 ? `${names} and ${counted(others, 'more unit')}` : names;
}
