import { tables } from '../../../../schema/tables.ts';
import type { Yaml } from '../../files/yaml.ts';

const hours = (count: number) => ({ count, period: 'hour' });

/** A nightly run pulls every unit that has not settled, so a ledger that no run has touched for a night and a half is late. */
const afterRun = { warn_after: hours(36), error_after: hours(72) };

/** At a nightly run the newest day has begun 27 hours ago, and before the next one 51 hours ago. */
const ofNewestDay = { warn_after: hours(60), error_after: hours(96) };

/**
 * What shows how current a table is. The tables without an entry are not judged: they are stored in the same transactions as
 * those of their stream, or can have no rows for long.
 */
export const FRESHNESS: Readonly<Record<string, Readonly<Record<string, Yaml>>>> = {
  [tables.exportUnits.name]: { freshness: afterRun, loaded_at_field: 'last_pulled_at' },
  [tables.exportRuns.name]: { freshness: afterRun, loaded_at_field: 'started_at' },
  ...Object.fromEntries(
    [tables.tokensDaily, tables.toolsDaily, tables.activityDaily, tables.productivityDaily].map(
      ({ name }) => [name, { freshness: ofNewestDay, loaded_at_field: 'cast(date as timestamp)' }],
    ),
  ),
};
