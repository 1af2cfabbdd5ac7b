import type { Figure, Page, Section, Table } from '../page/page.ts';

/** A report has no second page of a list. */
const ROWS_MAX = 50;

/** Cuts the lists of a page that the dashboard shows in parts, and says so. Tables of charts stay whole. */
export function shortenLists(page: Page): Page {
  if (page.pager === undefined && page.search === undefined) return page;
  const { pager: _pager, search: _search, ...rest } = page;
  return {
    ...rest,
    sections: page.sections.map((section) => shortenSection(section, page.pager?.pages ?? 1)),
  };
}

function shortenSection(section: Section, pages: number): Section {
  if (section.kind !== 'figure' || section.chart !== undefined || section.table.sorting === undefined)
    return section;
  const { rows } = section.table;
  if (rows.length <= ROWS_MAX && pages === 1) return section;
  const note = [`The first ${Math.min(ROWS_MAX, rows.length)} of a longer list.`];
  const table: Table = { ...section.table, rows: rows.slice(0, ROWS_MAX) };
  return { ...section, table, notes: [...(section.notes ?? []), note] } satisfies Figure;
}
