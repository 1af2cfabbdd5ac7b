import { tables } from '../../../schema/tables.ts';
import type { ProductivityRow } from '../../api/shapes/productivity.ts';
import type { EncodedRows } from '../../warehouse/port.ts';
import type { NormalizeContext } from './context.ts';
import { mapping } from './mapping.ts';
import { distinctRows, summedRows } from './rows.ts';

const { productivityDaily, productivityDailyByExtension, productivityDailyByLanguage } = tables;
const dayRow = mapping(productivityDaily, { place: 'data[]', known: ['by_extension', 'by_language'] });
const extensionRow = mapping(productivityDailyByExtension, {
  place: 'data[].by_extension[]',
  given: ['date'],
});
const languageRow = mapping(productivityDailyByLanguage, { place: 'data[].by_language[]', given: ['date'] });

/** Collects the rows of a day of /productivity: the day, its file extensions and its languages. */
export function normalizeProductivity() {
  const days = distinctRows(productivityDaily);
  const extensions = summedRows(productivityDailyByExtension);
  const languages = summedRows(productivityDailyByLanguage);
  return {
    add(row: ProductivityRow, context: NormalizeContext): void {
      const { date, by_extension, by_language } = row;
      days.add(dayRow(row, {}, context));
      for (const element of by_extension ?? []) extensions.add(extensionRow(element, { date }, context));
      for (const element of by_language ?? []) languages.add(languageRow(element, { date }, context));
    },
    finish: (): EncodedRows[] => [days.finish(), extensions.finish(), languages.finish()],
  };
}
