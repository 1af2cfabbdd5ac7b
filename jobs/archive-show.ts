import { type ShownAnswers, type ShownUnit, showAnswers } from '../src/archive/show-answers.ts';
import type { Settings } from '../src/settings/settings.ts';
import { archiveFolder } from './archive-folder.ts';

/**
 * What came about a unit, and when. Writes nothing.
 * @throws {UsageError} if there is no archive.
 */
export function showArchive(settings: Settings, unit: ShownUnit): Promise<ShownAnswers> {
  return showAnswers(archiveFolder(settings), unit);
}
