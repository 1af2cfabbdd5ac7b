import type { SchemaDrift } from '../../../status/organization.ts';
import type { ScreenFrame } from '../../output/output.ts';
import { counted } from '../../text/quantity.ts';
import { type Cell, renderTable, shrinking } from '../../text/table.ts';

const SHOWN_MAX = 5;

/** Draws the latest unknown fields and values in responses, and how many more there are. */
export function renderSchemaDrift({ places, listed }: SchemaDrift, frame: ScreenFrame): string[] {
  if (places === 0) return [];
  const rows = listed
    .slice(0, SHOWN_MAX)
    .map(({ stream, path, kind, sample, since }): Cell[] => [
      stream,
      kind,
      since,
      frame.redact(path),
      frame.redact(sample),
    ]);
  const columns = ['stream', 'kind', 'since', shrinking('place'), shrinking('sample')];
  const more =
    places > SHOWN_MAX
      ? [`and ${counted(places - SHOWN_MAX, 'more place')}, see the table schema_drift`]
      : [];
  return [...renderTable(columns, rows, frame), ...more.map(frame.style.dim)];
}
