export type { WrittenBackup } from './backup-file.ts';
export type { PlacedFile } from './file-place.ts';
export { archiveBeside, datedPath } from './folders.ts';
export { type BackupNotes, noteBackup, noteDamages, readBackupNotes, readDamages } from './notes.ts';
export type { BackupRecord } from './record.ts';

// The calls below load the driver of SQLite: only opening a warehouse explains why it cannot be loaded.

export const writeCopy: typeof import('./write-file.ts').writeCopy = async (...call) =>
  (await import('./write-file.ts')).writeCopy(...call);

export const writeBackup: typeof import('./backup-file.ts').writeBackup = async (...call) =>
  (await import('./backup-file.ts')).writeBackup(...call);

export const checkBackup: typeof import('./backup-file.ts').checkBackup = async (path) =>
  (await import('./backup-file.ts')).checkBackup(path);

export const withBackup: typeof import('./backup-file.ts').withBackup = async (...call) =>
  (await import('./backup-file.ts')).withBackup(...call);

export const putArchive: typeof import('./file-place.ts').putArchive = async (...call) =>
  (await import('./file-place.ts')).putArchive(...call);

export const removeOld: typeof import('./old-backups.ts').removeOld = async (...call) =>
  (await import('./old-backups.ts')).removeOld(...call);
export { inTemporaryFolder } from './folders.ts';
