import { FIRST_DAY, parseDay } from '../../../src/core/day.ts';
import { readOrganizationIds } from '../../../src/ledger/ledger.ts';
import { formatNumber } from '../../../src/look/numbers.ts';
import type { Cell, Figure, Page, Phrase } from '../../../src/look/page.ts';
import type { PageReader } from '../../../src/look/reader.ts';
import { pageReader } from '../../../src/look/snapshot-reader.ts';
import type { Warehouse } from '../../../src/port/warehouse.ts';

/** Reads inside a snapshot, for a period from the first day of the service. */
export async function reading<Read>(
  warehouse: Warehouse,
  read: (reader: PageReader) => Promise<Read>,
  { until = '2026-01-23' }: { until?: string } = {},
): Promise<Read> {
  const [orgId = 'org_1'] = await readOrganizationIds(warehouse);
  const filters = { orgId, from: FIRST_DAY, until: parseDay(until) };
  return warehouse.inSnapshot(() => read(pageReader(warehouse, filters)));
}

/** A cell as people read it; a state is its mark. */
export function cellText(cell: Cell): string {
  switch (cell.kind) {
    case 'number':
      return cell.value === null ? '–' : formatNumber(cell.value, cell.format);
    case 'bar':
    case 'delta':
      return String(cell.value);
    case 'step':
      return `${cell.from} to ${cell.to}`;
    case 'bullet':
      return `${cell.spent} of ${cell.budget}`;
    case 'phrase':
      return phraseText(cell.parts);
    case 'weeks':
      return cell.values.join(' ');
    case 'state':
      return cell.state;
    default:
      return cell.text;
  }
}

/** A phrase as people read it. */
export function phraseText(phrase: Phrase): string {
  return phrase
    .map((part) => {
      if (typeof part === 'string') return part;
      if (part.kind === 'small') return ` (${phraseText(part.parts)})`;
      return part.kind === 'strong' ? phraseText(part.parts) : cellText(part);
    })
    .join('');
}

/** The rows of a figure's table as people read them. */
export function rowsOf(figure: Figure): string[][] {
  return figure.table.rows.map((row) => row.map(cellText));
}

/** All figures of a page. */
export function figuresOf(page: Page): Figure[] {
  return page.sections.flatMap((section) => {
    if (section.kind === 'headlines') return [];
    return section.kind === 'pair' ? [...section.figures] : section;
  });
}

/** The figure with an ID. It throws if there is none. */
export function figureOf(page: Page, id: string): Figure {
  const found = figuresOf(page).find((figure) => figure.id === id);
  if (found === undefined) throw new Error(`the page ${page.name} has no figure ${id}`);
  return found;
}
