import { tables } from '../../../schema/tables.ts';
import type { ProductivityRow } from '../../api/shapes/productivity.ts';
import type { EncodedRows } from '../../warehouse/port.ts';
import { type NormalizeContext, orNull } from './context.ts';
import { distinctRows, summedRows } from './rows.ts';

const METRICS = ['files_created', 'files_edited', 'git_commits', 'git_prs_created'] as const;
const ROW_FIELDS = new Set<string>(['date', ...METRICS, 'by_extension', 'by_language']);
const EXTENSION_FIELDS = new Set(['extension', 'count']);
const LANGUAGE_FIELDS = new Set(['language', 'count']);

/** Collects the rows of a day of /productivity: the day, its file extensions and its languages. */
export function normalizeProductivity() {
  const days = distinctRows(tables.productivityDaily);
  const extensions = summedRows(tables.productivityDailyByExtension);
  const languages = summedRows(tables.productivityDailyByLanguage);
  return {
    add(row: ProductivityRow, { orgId, findings, exact }: NormalizeContext): void {
      const scope = [orgId, row.date];
      const metrics = METRICS.map((name) => orNull(row[name]));
      days.add([...scope, ...metrics, findings.extra(row, ROW_FIELDS, { place: 'data[]', exact })]);
      for (const element of row.by_extension ?? []) {
        const extra = findings.extra(element, EXTENSION_FIELDS, { place: 'data[].by_extension[]', exact });
        extensions.add([...scope, element.extension, orNull(element.count), extra]);
      }
      for (const element of row.by_language ?? []) {
        const extra = findings.extra(element, LANGUAGE_FIELDS, { place: 'data[].by_language[]', exact });
        languages.add([...scope, element.language, orNull(element.count), extra]);
      }
    },
    finish: (): EncodedRows[] => [days.finish(), extensions.finish(), languages.finish()],
  };
}
