import { bytesOf, fileOfArchive } from './archive-place.ts';

export { type DayAnswer, partsOf } from './answers.ts';
export type { ArchiveCheck } from './damage.ts';
export type { Pruned } from './prune.ts';
export type { ChosenAnswers, CommittedAnswers, ReadArchives, ReplayScope } from './read-archives.ts';
export type { ShownAnswers, ShownUnit } from './show-answers.ts';

// The calls below load the driver of SQLite: only opening a warehouse explains why it cannot be loaded.

/**
 * The size of the file of an archive; 0 if nothing was written into it.
 * @throws {UsageError} if it is of an earlier build.
 */
export function archiveBytes(archive: string): number {
  return bytesOf(fileOfArchive(archive));
}

export const openArchive: typeof import('./open-archive.ts').openArchive = async (options) =>
  (await import('./open-archive.ts')).openArchive(options);

export const meetArchive: typeof import('./meet-warehouse.ts').meetArchive = async (...call) =>
  (await import('./meet-warehouse.ts')).meetArchive(...call);

export const compareArchive: typeof import('./meet-warehouse.ts').compareArchive = async (...call) =>
  (await import('./meet-warehouse.ts')).compareArchive(...call);

export const withArchives: typeof import('./read-archives.ts').withArchives = async (...call) =>
  (await import('./read-archives.ts')).withArchives(...call);

export const withCommitted: typeof import('./read-archives.ts').withCommitted = async (...call) =>
  (await import('./read-archives.ts')).withCommitted(...call);

export const verifyArchive: typeof import('./damage.ts').verifyArchive = async (archive) =>
  (await import('./damage.ts')).verifyArchive(archive);

/** What came, and when. */
export const shownArchives = (): Promise<typeof import('./show-answers.ts')> => import('./show-answers.ts');

export const pruneArchive: typeof import('./prune.ts').pruneArchive = async (...call) =>
  (await import('./prune.ts')).pruneArchive(...call);

export const expectSweepable: typeof import('./sweep-answers.ts').expectSweepable = async (...call) =>
  (await import('./sweep-answers.ts')).expectSweepable(...call);

export const sweepArchived: typeof import('./sweep-answers.ts').sweepArchived = async (...call) =>
  (await import('./sweep-answers.ts')).sweepArchived(...call);

export const forgetSwept: typeof import('./sweep-answers.ts').forgetSwept = async (...call) =>
  (await import('./sweep-answers.ts')).forgetSwept(...call);

export const expectPlace: typeof import('./people.ts').expectPlace = async (...call) =>
  (await import('./people.ts')).expectPlace(...call);

export const keptOutOfArchive: typeof import('./people.ts').keptOutOfArchive = async (archive) =>
  (await import('./people.ts')).keptOutOfArchive(archive);

/** Backups of archives. */
export const savedArchives = (): Promise<typeof import('./saved-archive.ts')> => import('./saved-archive.ts');
