import { NOTIFY_CHANNELS, NOTIFY_EVENTS, type NotifySettings, spoolOf } from '../hooks/index.ts';
import { readDotenv } from './dotenv.ts';
import { listOf, oneOf, parseFolder, parseInstant, parseText, parseWebhook, wholeNumber } from './parsers.ts';
import { secretsOfUrl } from './secrets.ts';
import { findGiven, readTable, setting } from './setting.ts';

/**
 * The part of the table of settings that the receiver of hook events needs. It is declared apart, because an agent waits
 * for the receiver, which therefore loads no other setting.
 */
export const RECEIVER_SETTINGS = {
  spool: setting('DAYWALK_SPOOL', {
    group: 'spool',
    flag: '--spool <folder>',
    doc: 'the folder in which hook events wait until a run stores them',
    fallbackDoc: 'beside the warehouse, as <warehouse>.spool',
    example: '/var/lib/daywalk/daywalk.db.spool',
    parse: parseFolder,
  }),
  notify: setting('DAYWALK_NOTIFY', {
    group: 'notify',
    flag: '--notify <channels>',
    doc: 'how daywalk hook notifies: desktop, bell, webhook, separated by commas, or none',
    fallback: [],
    example: 'desktop,bell',
    parse: listOf(NOTIFY_CHANNELS),
  }),
  notifyEvents: setting('DAYWALK_NOTIFY_EVENTS', {
    group: 'notify',
    flag: '--notify-events <events>',
    doc: 'the events that cause a notification',
    fallback: NOTIFY_EVENTS,
    fallbackDoc: NOTIFY_EVENTS.join(', '),
    example: 'Notification,Stop',
    parse: listOf(NOTIFY_EVENTS),
  }),
  notifyTemplate: setting('DAYWALK_NOTIFY_TEMPLATE', {
    group: 'notify',
    flag: '--notify-template <text>',
    doc: 'text of the notification, with fields of the event in braces: {hook_event_name}, {message}, {cwd} …',
    fallbackDoc: 'a sentence for each event',
    example: '{hook_event_name} in {cwd}: {message}{reason}',
    parse: parseText,
  }),
  notifyWebhook: setting('DAYWALK_NOTIFY_WEBHOOK', {
    group: 'notify',
    doc: 'the URL of the webhook; https, or http on loopback; a secret, so it is not accepted on the command line',
    secret: true,
    parse: parseWebhook,
    secretsIn: secretsOfUrl,
  }),
  notifyWebhookFormat: setting('DAYWALK_NOTIFY_WEBHOOK_FORMAT', {
    group: 'notify',
    flag: '--notify-webhook-format <format>',
    doc: 'what the webhook receives: json (the text and the fields of the event) or chat (only {"text": …})',
    fallback: 'json',
    parse: oneOf(['json', 'chat']),
  }),
  notifyTimeoutMs: setting('DAYWALK_NOTIFY_TIMEOUT_MS', {
    group: 'notify',
    flag: '--notify-timeout-ms <ms>',
    doc: 'time limit for a notification',
    fallback: 2_000,
    parse: wholeNumber({ min: 10, max: 60_000 }),
  }),
} as const;

const ALL = Object.values(RECEIVER_SETTINGS);
const NOTIFY = ALL.filter(({ group }) => group === 'notify');

/** The inputs of the receiver process. */
interface ReceiverSources {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/** The settings of the receiver. Reading them never throws: a wrong setting must not lose the event. */
interface ReceiverSettings {
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
  const dotenv = { values: {}, lineOf: () => undefined };
  const given = findGiven(NOTIFY, { ...sources, dotenv });
  const { values, entries } = readTable(RECEIVER_SETTINGS, { given, directory: '' });
  for (const { problem } of entries.values())
    if (problem !== null) report(`${problem.message}; ${problem.hint ?? ''}`);
  return {
    channels: values.notify,
    events: values.notifyEvents,
    template: values.notifyTemplate,
    webhook: values.notifyWebhook,
    webhookName: RECEIVER_SETTINGS.notifyWebhook.env,
    webhookFormat: values.notifyWebhookFormat,
    timeoutMs: values.notifyTimeoutMs,
  };
}

function instantOf(text: string): Date | null {
  try {
    return text === '' ? null : parseInstant(text);
  } catch {
    return null;
  }
}

const NAMES: readonly string[] = ['--warehouse', ...ALL.flatMap(({ flag }) => flag ?? [])];

/** The receiver's flags on a command line, and the words that are not flags. */
interface ReceiverFlags {
  readonly flags: Readonly<Record<string, string>>;
  readonly ignored: readonly string[];
}

/**
 * Reads the flags of the receiver. It never refuses a command line, because a wrong flag must not lose the event.
 */
function readFlags(argv: readonly string[]): ReceiverFlags {
  const flags: Record<string, string> = {};
  const ignored: string[] = [];
  const words = [...argv];
  while (words.length > 0) {
    const word = words.shift() ?? '';
    const equals = word.indexOf('=');
    const name = equals === -1 ? word : word.slice(0, equals);
    const value = NAMES.includes(name) ? (equals === -1 ? words.shift() : word.slice(equals + 1)) : undefined;
    if (value === undefined) ignored.push(name);
    else flags[name] = value;
  }
  return { flags, ignored };
}

/** The sources in which the folder of the spool may be set. */
interface SpoolSources {
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly directory: string;
}

/**
 * The spool that a received event goes to: flag, then environment, then `.env`, then default, as for every setting.
 * `.env` is read only if neither a flag nor the environment names a place.
 */
function spoolFolderOf({ flags, env, directory }: SpoolSources): string {
  const given = (values: Readonly<Record<string, string | undefined>>, spool: string, warehouse: string) => ({
    spool: textOf(values[spool]),
    warehouse: textOf(values[warehouse]),
  });
  const byFlag = given(flags, '--spool', '--warehouse');
  const byEnv = given(env, 'DAYWALK_SPOOL', 'DAYWALK_WAREHOUSE');
  const isNamed = [byFlag, byEnv].some(({ spool, warehouse }) => spool !== null || warehouse !== null);
  const byFile = isNamed
    ? { spool: null, warehouse: null }
    : given(dotenvOf(directory), 'DAYWALK_SPOOL', 'DAYWALK_WAREHOUSE');
  return spoolOf({
    spool: byFlag.spool ?? byEnv.spool ?? byFile.spool,
    warehouse: byFlag.warehouse ?? byEnv.warehouse ?? byFile.warehouse ?? 'daywalk.db',
    directory,
  });
}

function textOf(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

// The agent works in this folder. An unreadable `.env` there must not lose the event.
function dotenvOf(directory: string): Readonly<Record<string, string | undefined>> {
  try {
    return readDotenv(directory).values;
  } catch {
    return {};
  }
}
