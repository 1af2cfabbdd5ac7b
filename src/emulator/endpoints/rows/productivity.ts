import type { ProductivityRow } from '../../../api/shapes/productivity.ts';
import { EXTENSIONS, LANGUAGES } from '../../dataset/catalog.ts';
import { orgDayOf } from './org-day.ts';
import { type DayView, rank } from './view.ts';

/** The names of the languages, in the order of the catalog. */
export const LANGUAGE_NAMES: readonly string[] = LANGUAGES.map((language) => language.name);

/** /productivity: one row per day; both breakdowns sum to the files created and edited (section 2.4). */
export function writeProductivityRows(view: DayView): readonly ProductivityRow[] {
  const org = orgDayOf(view, 'productivity');
  if (org === null) return [];
  return [
    {
      date: view.date,
      files_created: org.filesCreated,
      files_edited: org.filesEdited,
      by_extension: rank(EXTENSIONS, org.extensions).map(({ name, count }) => ({ extension: name, count })),
      by_language: rank(LANGUAGE_NAMES, org.languages).map(({ name, count }) => ({
        language: name,
        count,
      })),
      git_commits: org.commits,
      git_prs_created: org.pullRequests,
    },
  ];
}
