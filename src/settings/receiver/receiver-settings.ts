import type { NotifySettings } from '../../hooks/notify/notify.ts';
import { parseInstant } from '../parsers/instant.ts';
import { createSettingReader } from '../setting-reader.ts';
import { readFlags } from './flags.ts';
import { NOTIFY_SETTINGS } from './hook-settings.ts';
import { readNotifySettings } from './notify-settings.ts';
import { spoolFolderOf } from './spool-folder.ts';

/** The inputs of the receiver process. */
export interface ReceiverSources {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/** The settings of the receiver. Reading them never throws: a wrong setting must not lose the event. */
export interface ReceiverSettings {
  /** Words of the command line that are not flags of the receiver. */
  readonly ignored: readonly string[];
  /** The folder that received events go to. */
  spoolFolder(): string;
  /** The instant of a rehearsal; null for the clock. */
  readonly rehearsedNow: Date | null;
  /** True if email addresses must not even reach the spool. Hashing is left to the drain, which can check the salt. */
  readonly dropsEmails: boolean;
  /** Null if no notification is to be sent; `report` receives one line per wrong setting. */
  readonly notification: ((report: (line: string) => void) => NotifySettings) | null;
}

const NO_DOTENV = { values: {}, readableByOthers: false, faults: [], lineOf: () => undefined };

/** Reads the few settings that the receiver needs, and no secret besides the webhook's address. */
export function readReceiverSettings({ argv, env, directory }: ReceiverSources): ReceiverSettings {
  const { flags, ignored } = readFlags(argv);
  const isNotifying = flags['--notify'] !== undefined || (env['DAYWALK_NOTIFY'] ?? '') !== '';
  return {
    ignored,
    spoolFolder: () => spoolFolderOf({ flags, env, directory }),
    rehearsedNow: instantOf(env['DAYWALK_NOW']?.trim() ?? ''),
    dropsEmails: env['DAYWALK_EMAILS']?.trim() === 'drop',
    notification: isNotifying ? (report) => notificationOf({ flags, env }, report) : null,
  };
}

function notificationOf(
  sources: Pick<ReceiverSources, 'env'> & { readonly flags: Readonly<Record<string, string>> },
  report: (line: string) => void,
): NotifySettings {
  const reader = createSettingReader({ ...sources, dotenv: NO_DOTENV }, Object.values(NOTIFY_SETTINGS));
  const settings = readNotifySettings(reader);
  for (const { message, hint } of reader.problems) report(`${message}; ${hint ?? ''}`);
  return settings;
}

function instantOf(text: string): Date | null {
  try {
    return text === '' ? null : parseInstant(text);
  } catch {
    return null;
  }
}
