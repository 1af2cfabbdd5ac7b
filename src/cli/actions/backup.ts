import { resolve } from 'node:path';
import { type BackupReport, backUp } from '../../../jobs/backup.ts';
import { type RestoreReport, type RestoreTest, restore, testRestore } from '../../../jobs/restore.ts';
import { type UpgradeReport, upgradeWarehouse } from '../../../jobs/upgrade.ts';
import { EXIT } from '../../core/exit-code.ts';
import type { Action } from '../program/command.ts';
import { counted, formatBytes, formatDuration, formatNumber } from '../screens/numbers.ts';
import { type Field, renderFields, type TableFrame } from '../screens/table.ts';

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
      [['to', to], ...(archive === null ? [] : [['archive', archive] as Field]), ...fieldsOf(report)],
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
        ...fieldsOf(test),
        ['verified', test.broken === 0 ? 'nothing contradicts' : counted(test.broken, 'broken part')],
        ...(damages === null
          ? []
          : [['archive', damages === 0 ? 'sound' : counted(damages, 'damage')] as Field]),
      ],
      frame,
    ),
  ];
}

function fieldsOf({
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
