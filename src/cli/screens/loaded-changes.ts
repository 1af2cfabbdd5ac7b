import type { Change, Changes } from '../../metrics/money/stored-money.ts';
import { formatNumber } from '../text/quantity.ts';
import type { TableColumn, TableFrame } from '../text/table.ts';
import { renderListing } from './listing.ts';

const CHANGES_SHOWN_MAX = 20;

/** How a change of a row is drawn: the cells that name it, and its value. */
export interface ChangeColumns<Row> {
  readonly names: readonly (string | TableColumn)[];
  nameOf(row: Row): readonly (string | null)[];
  amountOf(row: Row): string;
}

/** Draws how many rows a load has added, removed and changed, and which. */
export function renderChanges<Row>(
  { added, removed, changed, unchanged, changes }: Changes<Row>,
  { names, nameOf, amountOf }: ChangeColumns<Row>,
  frame: TableFrame,
): string[] {
  const counts = { added, changed, removed, unchanged };
  const words = Object.entries(counts).map(([what, count]) => `${formatNumber(count)} ${what}`);
  const value = ({ before, after }: Change<Row>) => [
    before === null ? null : amountOf(before),
    after === null ? null : amountOf(after),
  ];
  const listing = renderListing(
    {
      columns: [...names, { header: 'before', align: 'right' }, { header: 'after', align: 'right' }],
      items: changes,
      row: (change) => {
        const row = change.after ?? change.before;
        return [...(row === null ? [] : nameOf(row)), ...value(change)];
      },
      shownMax: CHANGES_SHOWN_MAX,
    },
    { ...frame, indent: 2 },
  );
  return [`  ${words.join(', ')}`, ...(listing.length === 0 ? [] : ['', ...listing])];
}
