import { existsSync, readFileSync } from 'node:fs';
import { type BackupReport, type BackupRequest, backUp } from '../../../jobs/backup.ts';
import { copyWarehouse } from '../../../jobs/copy.ts';
import {
  type RestoreReport,
  type RestoreRequest,
  type RestoreTest,
  restore,
  testRestore,
} from '../../../jobs/restore.ts';
import type { CopyReport } from '../../../src/copy/events.ts';
import type { JobContext } from '../../../src/core/clock.ts';
import type { UtcDay } from '../../../src/core/day.ts';
import type { Settings } from '../../../src/settings/settings.ts';
import { contextOf } from '../rig/rig.ts';

/** Whose warehouse, and when. */
export interface Installation {
  readonly settings: Settings;
  readonly today: UtcDay;
}

/** The warnings of the last backup, copy or restore. */
export const warnings: string[] = [];

function contextFor(today: UtcDay): JobContext<{ readonly type: string }> {
  warnings.length = 0;
  const observe = (event: { readonly type: string; readonly message?: string }) => {
    if (event.type === 'warning') warnings.push(event.message ?? '');
  };
  return { ...contextOf(today), observe };
}

/** Backs up an installation to a path. */
export function backUpTo(
  { settings, today }: Installation,
  path: string,
  request: Partial<BackupRequest> = {},
): Promise<BackupReport> {
  return backUp(
    settings,
    { path, isFolder: false, keep: 14, withArchive: false, ...request },
    contextFor(today),
  );
}

/** Restores a file into the warehouse of an installation. */
export function restoreFrom(
  { settings, today }: Installation,
  file: string,
  request: Partial<RestoreRequest> = {},
): Promise<RestoreReport> {
  const asked = { replace: false, withArchive: false, wait: false, ...request };
  return restore(settings, { file, ...asked }, contextFor(today));
}

/** Tests whether a file can be restored. */
export function testOf(
  { settings, today }: Installation,
  file: string,
  withArchive = false,
): Promise<RestoreTest> {
  return testRestore(settings, { file, withArchive }, contextFor(today));
}

/** Copies the warehouse of an installation to a place. */
export function copyTo({ settings, today }: Installation, to: string): Promise<CopyReport> {
  return copyWarehouse(settings, { to, replace: false, wait: false }, contextFor(today));
}

/** The values that are in the bytes of files, in any letter case. */
export function valuesIn(values: readonly string[], ...paths: readonly string[]): string[] {
  return paths
    .filter((path) => existsSync(path))
    .flatMap((path) => {
      const text = readFileSync(path, 'latin1').toLowerCase();
      return values.filter((value) => text.includes(value.toLowerCase())).map((value) => `${path}: ${value}`);
    });
}
