import { FIRST_DAY, shiftDay } from '../../src/core/day.ts';

/**
 * The organization; a quarter of its users is active on a day. It is the smallest at which an index that is ordered by user and
 * kept up to date for each day is far beyond the tolerance: it adds a quarter to what a first sync into SQLite writes, a third to
 * a night, and a quarter to a night's WAL in PostgreSQL.
 */
export const ORGANIZATION = { users: 500, days: 100 };

/** History settles on the third night of a first sync. */
const SETTLED_AFTER = 2;
/** The ordinary night comes after that. */
export const NIGHT_AFTER = SETTLED_AFTER + 1;

/** The day of the first sync. The service has data of {@link NIGHT_AFTER} more days. */
export const SYNC_DAY = shiftDay(FIRST_DAY, ORGANIZATION.days);
const LAST_DAY = shiftDay(SYNC_DAY, -1);
const MONTH_AGO = shiftDay(SYNC_DAY, -30);

/** A task whose cost is counted. */
export interface Scenario {
  readonly name: string;
  /** What it begins with: an empty database, or a copy of one after the first night of a first sync, or after the third. */
  readonly begins: 'empty' | 'synced' | 'settled';
  /** Days after {@link SYNC_DAY}. */
  readonly daysLater: number;
  /** The command. `beside` names a new empty warehouse of the same database, and a new folder. */
  command(beside: { readonly warehouse: string; readonly folder: string }): readonly string[];
  /** A server that is asked for a page, and not a command that ends by itself. */
  readonly page?: string;
  /** Its report must say that nothing was written. */
  readonly writesNoRows?: boolean;
}

/** The second look at history, on the night after the first sync. */
export const LOOK: Scenario = {
  name: 'look',
  begins: 'synced',
  daysLater: 1,
  command: () => ['run', '--json'],
};

/** The third look, after which history is settled. */
export const LAST_LOOK: Scenario = { ...LOOK, daysLater: SETTLED_AFTER };

/** Every scenario, in the order in which they run. The first one fills the database of the others. */
export const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  { name: 'sync', begins: 'empty', daysLater: 0, command: () => ['run', '--json'] },
  LOOK,
  {
    // Unsettled days, whose answers are compared by their digest, are a part of the night. This one compares every row of a
    // month.
    name: 're-pull',
    begins: 'settled',
    daysLater: SETTLED_AFTER,
    command: () => ['backfill', '--from', MONTH_AGO, '--until', LAST_DAY, '--force', '--json'],
    writesNoRows: true,
  },
  { name: 'night', begins: 'settled', daysLater: NIGHT_AFTER, command: () => ['run', '--json'] },
  {
    name: 'copy',
    begins: 'settled',
    daysLater: SETTLED_AFTER,
    command: ({ warehouse }) => ['copy', '--to', warehouse, '--json'],
  },
  {
    name: 'publish',
    begins: 'settled',
    daysLater: SETTLED_AFTER,
    command: ({ folder }) => ['publish', '--parquet', folder, '--json'],
  },
  {
    name: 'overview',
    begins: 'settled',
    daysLater: SETTLED_AFTER,
    command: () => ['dashboard', '--port', '0'],
    page: `/?${new URLSearchParams({ from: shiftDay(FIRST_DAY, 3), until: shiftDay(FIRST_DAY, 64) })}`,
  },
];

export const DATABASES = ['sqlite', 'postgres'] as const;
export type Database = (typeof DATABASES)[number];
