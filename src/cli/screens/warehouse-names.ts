import { maskUrlPassword } from '../../settings/mask-url.ts';
import type { SettingsReading } from '../../settings/read-settings.ts';
import { SETTINGS } from '../../settings/settings-table.ts';
import { shellQuote } from '../text/shell.ts';

/** The location of a warehouse, for use in suggested commands. */
export interface WarehouseNames {
  /** The location, quoted for a shell. */
  readonly name: string;
  /** ` --warehouse …`, or empty if the environment or the default names the same warehouse. */
  readonly flag: string;
}

/** Names the warehouse of this command for further commands, without a password. */
export function warehouseNames({ reading }: { readonly reading: SettingsReading }): WarehouseNames {
  const { warehouse } = reading.settings;
  const entry = reading.entries.find(({ setting }) => setting.env === SETTINGS.warehouse.env);
  return namesOf(warehouse, entry?.source === 'flag');
}

/** Names the warehouse at a location. */
export function namesOf(location: string, withFlag: boolean): WarehouseNames {
  const shown = shellQuote(maskUrlPassword(location));
  return {
    name: shown,
    flag: withFlag ? ` --warehouse ${shown}` : '',
  };
}
