import { sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { STREAMS } from '../../core/stream.ts';
import { isRestricted } from '../audience/audience.ts';
import type { PageReader } from '../data/reader.ts';
import type { Figure } from '../page/page.ts';
import { listing, textColumn } from './listing.ts';

/** Fields and values of responses that this version does not know, newest first. Only managers see the samples. */
export function schemaDrift(reader: PageReader, until: UtcDay): Promise<Figure> {
  const hidden = isRestricted(reader.viewer);
  return listing(reader, {
    id: 'drift',
    title: 'Unknown parts of responses',
    subtitle: 'One row per place that this version does not know, newest first',
    query: sql`
  SELECT first_seen_on, stream, path, kind${hidden ? sql`` : sql`, sample`}
  FROM schema_drift WHERE org_id = ${reader.filters.orgId}`,
    order: sql`first_seen_on DESC, stream, path`,
    columns: [
      textColumn('first_seen_on', { title: 'First day' }),
      textColumn('stream', { title: 'Stream' }),
      textColumn('path', { title: 'Place' }),
      textColumn('kind', { title: 'Kind' }),
      ...(hidden ? [] : [textColumn('sample', { title: 'Sample', isSpare: true })]),
    ],
    empty: 'Every part of the responses is known.',
    notes: [['Unknown fields are kept in the columns named extra.']],
    streams: STREAMS,
    until,
  });
}
