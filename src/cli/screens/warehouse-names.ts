import { maskUrlPassword } from '../../settings/mask-url.ts';
import type { SettingsReading } from '../../settings/read-settings.ts';
import { SETTINGS } from '../../settings/settings-table.ts';
import { isPostgres } from '../../warehouse/location.ts';
import { shellQuote } from '../text/shell.ts';

/** How to name the same warehouse in another command line. */
export interface WarehouseNames {
  /** The location as a shell takes it. */
  readonly name: string;
  /** `--warehouse …` where the flag named it; empty where the environment or the default does it again by itself. */
  readonly flag: string;
  /** A command line that asks the warehouse a query. */
  query(sql: string): string;
}

/** How to name the warehouse of this command in commands to copy; a password is not among it. */
export function warehouseNames({ reading }: { readonly reading: SettingsReading }): WarehouseNames {
  const { warehouse } = reading.settings;
  const entry = reading.entries.find(({ setting }) => setting.env === SETTINGS.warehouse.env);
  return namesOf(warehouse, entry?.source === 'flag');
}

/** How to name a warehouse at a location, with its flag or without. */
export function namesOf(location: string, withFlag: boolean): WarehouseNames {
  const shown = shellQuote(maskUrlPassword(location));
  return {
    name: shown,
    flag: withFlag ? ` --warehouse ${shown}` : '',
    query: (sql) =>
      isPostgres(location) ? `psql ${shown} -c ${shellQuote(sql)}` : `sqlite3 ${shown} ${shellQuote(sql)}`,
  };
}
