import { sql } from '../../../schema/query.ts';
import type { UtcDay } from '../../core/day.ts';
import { STREAMS } from '../../core/stream.ts';
import { isRestricted } from '../audience/audience.ts';
import { freeTextFor } from '../audience/free-text.ts';
import type { PageReader } from '../data/reader.ts';
import type { Figure } from '../page/page.ts';
import { factColumn, instantColumn, listing, textColumn } from './listing.ts';

const NOTHING = 'No record is in quarantine.';

/** How many records are in quarantine, by stream and reason. */
export function quarantineReasons(reader: PageReader, until: UtcDay): Promise<Figure> {
  return listing(reader, {
    id: 'quarantine',
    title: 'Quarantine',
    subtitle: 'Records that could not be stored, by stream and reason',
    query: sql`
  SELECT stream, reason, COUNT(*) AS records, COUNT(accepted_at) AS accepted, MIN(first_seen_at) AS first_seen_at
  FROM quarantine WHERE org_id = ${reader.filters.orgId} GROUP BY stream, reason`,
    order: sql`records DESC, stream, reason`,
    columns: [
      textColumn('stream', { title: 'Stream' }),
      textColumn('reason', { title: 'Reason' }, freeTextFor(reader.viewer)),
      factColumn('records', 'Records'),
      factColumn('accepted', 'Accepted'),
      instantColumn('first_seen_at', { title: 'First seen' }),
    ],
    empty: NOTHING,
    notes: [['The command daywalk quarantine lists the records and accepts them.']],
    streams: STREAMS,
    until,
  });
}

/** The records in quarantine, newest first, without their content. Only managers see where in a response they were. */
export function quarantinedRecords(reader: PageReader, until: UtcDay): Promise<Figure> {
  const hidden = isRestricted(reader.viewer);
  return listing(reader, {
    id: 'quarantined-records',
    title: 'Records in quarantine',
    subtitle: 'Newest first; the records themselves may hold personal data and are not shown',
    query: sql`
  SELECT first_seen_at, stream, date, reason, ${hidden ? sql`` : sql`path, `}accepted_at, record_sha256
  FROM quarantine WHERE org_id = ${reader.filters.orgId}`,
    order: sql`first_seen_at DESC, date DESC, stream, record_sha256`,
    columns: [
      instantColumn('first_seen_at', { title: 'First seen' }),
      textColumn('date', { title: 'Day' }),
      textColumn('stream', { title: 'Stream' }),
      textColumn('reason', { title: 'Reason' }, freeTextFor(reader.viewer)),
      ...(hidden ? [] : [textColumn('path', { title: 'Place', isSpare: true })]),
      instantColumn('accepted_at', { title: 'Accepted' }),
    ],
    empty: NOTHING,
    streams: STREAMS,
    until,
  });
}
