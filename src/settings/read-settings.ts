import { UsageError } from '../core/errors.ts';
import type { EmailPolicy } from '../privacy/email.ts';
import { APP_KEY, DASHBOARD_TOKEN, readApiKey } from './api-key.ts';
import { type DotenvFault, readDotenv } from './dotenv.ts';
import { readProxy, withProxyNames } from './proxy-settings.ts';
import { readNotifySettings } from './receiver/notify-settings.ts';
import type { AnySetting } from './setting.ts';
import { createSettingReader, type SettingEntry, type SettingReader } from './setting-reader.ts';
import type { LogFormat, Settings } from './settings.ts';
import { ALL_SETTINGS, SETTINGS } from './settings-table.ts';
import { exposedKeyFile, type SettingWarning, warningsOf, weakSalt } from './warnings.ts';

/** The sources of settings. Only an entry point knows them. */
export interface SettingsRequest {
  /** Values of flags by flag, for example `--base-url`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory: the place of `.env`, and the start of relative paths of key files. */
  readonly directory: string;
  /** The default of `--log`, which depends on the terminal. */
  readonly logDefault: LogFormat;
  /** The settings that the command uses; the others are not read and keep their defaults. @default all */
  readonly uses?: readonly AnySetting[];
}

/** The settings that were read, and every problem with them. */
export interface SettingsReading {
  /** Valid only if `problems` is empty: a refused value is replaced by its default. */
  readonly settings: Settings;
  readonly debug: boolean;
  readonly entries: readonly SettingEntry[];
  readonly problems: readonly UsageError[];
  readonly warnings: readonly SettingWarning[];
}

/**
 * Reads the settings: flag, then environment, then `.env` in the working directory, then default. Collects every problem
 * before it fails, so that one `daywalk config` shows all of them.
 * @throws {UsageError} if `.env` exists and cannot be read
 */
export function readSettings(request: SettingsRequest): SettingsReading {
  const dotenv = readDotenv(request.directory);
  const sources = { flags: request.flags, env: withProxyNames(request.env), dotenv };
  const reader = createSettingReader(sources, request.uses ?? ALL_SETTINGS);
  for (const fault of dotenv.faults) reader.refuse(refusedLine(fault));

  const main = readApiKey(reader, request.directory);
  const baseUrl = reader.read(SETTINGS.baseUrl);
  const appUrl = reader.readOr(SETTINGS.appUrl, {
    value: baseUrl,
    source: baseUrl === null ? 'not set' : 'default: the base URL',
  });
  const app = readApiKey(reader, request.directory, APP_KEY);
  const orgId = reader.read(SETTINGS.orgId);
  const others: Settings = {
    apiKey: main.apiKey,
    ...(app.apiKey !== null && { appApiKey: app.apiKey }),
    ...(orgId !== null && { orgId }),
    baseUrl,
    appUrl,
    warehouse: reader.read(SETTINGS.warehouse),
    concurrency: reader.read(SETTINGS.concurrency),
    rangeDays: reader.read(SETTINGS.rangeDays),
    maxRequestsPerMinute: reader.read(SETTINGS.maxRequestsPerMinute),
    maxRequests: reader.read(SETTINGS.maxRequests),
    requestTimeoutMs: reader.read(SETTINGS.requestTimeoutMs),
    attempts: reader.read(SETTINGS.attempts),
    proxy: readProxy(reader),
    settleDays: reader.read(SETTINGS.settleDays),
    watchDays: reader.read(SETTINGS.watchDays),
    emails: readEmailPolicy(reader),
    spool: readSpool(reader),
    log: reader.readOr(SETTINGS.log, {
      value: request.logDefault,
      source: 'default',
    }),
    now: reader.read(SETTINGS.now),
  };
  const debug = reader.read(SETTINGS.debug);
  const token = readApiKey(reader, request.directory, DASHBOARD_TOKEN);
  const settings: Settings = {
    ...others,
    dashboard: {
      listen: reader.read(SETTINGS.dashboardListen),
      allowedHosts: reader.read(SETTINGS.allowedHosts),
      token: token.apiKey,
    },
  };
  const exposed = [main, app, token]
    .map(({ fileReadableByOthers }) => fileReadableByOthers)
    .flatMap((path) => (path === null ? [] : [exposedKeyFile(path)]));
  const warnings = [...warningsOf(sources), ...exposed, ...weakSalt(settings.emails)];
  return { settings, debug, entries: reader.entries, problems: reader.problems, warnings };
}

/** A line that cannot be parsed would silently drop settings, so it stops the command. The message does not quote the line. */
function refusedLine({ line, kind }: DotenvFault): UsageError {
  const [what, hint] = {
    'no-equals-sign': ['has no =', 'write NAME=value, and # before a comment'],
    'bad-name': ['has an invalid name', 'write NAME=value with letters, digits and _ in the name'],
    'unclosed-quote': ['begins a value with a quote that is not closed', 'close it, or leave quotes out'],
  }[kind];
  return new UsageError(`.env line ${line} ${what}`, { hint });
}

/**
 * Returns the settings that were read.
 * @throws {UsageError} the first problem; its hint mentions that there are more
 */
export function soundSettings({ settings, problems }: SettingsReading): Settings {
  const [first, ...others] = problems;
  if (first === undefined) return settings;
  if (others.length === 0) throw first;
  throw new UsageError(first.message, {
    cause: first,
    hint: `${first.hint ?? 'correct it'}; ${others.length} more problems: daywalk config shows all`,
  });
}

// The receiver of hook events reads the notification settings itself; here they are only shown and checked.
function readSpool(reader: SettingReader): string | null {
  const spool = reader.read(SETTINGS.spool);
  readNotifySettings(reader);
  return spool;
}

function readEmailPolicy(reader: SettingReader): EmailPolicy {
  const mode = reader.read(SETTINGS.emails);
  const salt = reader.read(SETTINGS.emailSalt);
  if (mode !== 'hash') return { mode };
  if (salt !== null) return { mode, salt };
  if (reader.lookUp(SETTINGS.emailSalt) === null) {
    reader.refuse(
      new UsageError('emails are to be hashed and DAYWALK_EMAIL_SALT is not set', {
        hint: 'set it to a long random text and keep it: openssl rand -hex 32',
      }),
    );
  }
  return { mode: 'drop' };
}
