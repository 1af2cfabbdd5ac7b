import type { OrganizationStatus } from '../../../status/organization.ts';
import { UNIT_STATES, type UnitState } from '../../../warehouse/port.ts';
import type { Paint, Style } from '../../text/style.ts';
import { type Cell, renderTable, right, type TableFrame } from '../../text/table.ts';

const PAINTS: Readonly<Record<UnitState, (style: Style) => Paint>> = {
  loaded: (style) => style.green,
  empty: (style) => style.dim,
  awaiting: (style) => style.cyan,
  pending: (style) => style.yellow,
  doubted: (style) => style.yellow,
  quarantined: (style) => style.magenta,
  failed: (style) => style.red,
};

/** Draws the units of each stream by state. States without any unit have no column. */
export function renderStreams({ streams }: OrganizationStatus, frame: TableFrame): string[] {
  const states = UNIT_STATES.filter(
    (state) => state === 'loaded' || streams.some(({ units }) => units[state] > 0),
  );
  const columns = ['stream', 'newest data', ...states.map(right), right('settled'), right('rows')];
  const rows = streams.map(({ stream, units, settled, rows: held, newestDataDay }): Cell[] => [
    stream,
    newestDataDay,
    ...states.map((state) => paintNonZero(units[state], PAINTS[state](frame.style))),
    stream === 'readiness' ? null : settled,
    held,
  ]);
  return renderTable(columns, rows, frame);
}

function paintNonZero(count: number, paint: Paint): Cell {
  return count === 0 ? count : { content: count, paint };
}
