import { maskUrlPassword } from '../settings/mask-url.ts';
import type { SettingsReading } from '../settings/read-settings.ts';
import { SETTINGS } from '../settings/settings-table.ts';
import { shellQuote } from './text/shell.ts';

/** How to name the same warehouse in another command line. */
export interface WarehouseNames {
  /** `--warehouse …` where the flag named it; empty where the environment or the default does it again by itself. */
  readonly flag: string;
  /** The location as it may be shown, for tools such as sqlite3. */
  readonly location: string;
}

/** How to name the warehouse of this command in commands to copy. */
export function warehouseFlag({ reading }: { readonly reading: SettingsReading }): WarehouseNames {
  const location = shellQuote(maskUrlPassword(reading.settings.warehouse));
  const entry = reading.entries.find(({ setting }) => setting.env === SETTINGS.warehouse.env);
  return { flag: entry?.source === 'flag' ? ` --warehouse ${location}` : '', location };
}
