import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The texts of prepared pages, in order. */
export function* pageTexts(folder) {
  for (const name of readdirSync(folder).sort()) yield readFileSync(join(folder, name), 'utf8');
}

/** The parsed pages of one day after the other. */
export function* daysOfPages(folder) {
  let day = [];
  for (const text of pageTexts(folder)) {
    const page = JSON.parse(text);
    if (day.length > 0 && day[0].data[0].date !== page.data[0].date) {
      yield day;
      day = [];
    }
    day.push(page);
  }
  if (day.length > 0) yield day;
}
