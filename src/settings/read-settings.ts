import { UsageError } from '../core/errors.ts';
import type { EmailPolicy } from '../privacy/email.ts';
import { DASHBOARD_TOKEN, readApiKey } from './api-key.ts';
import { readCredentials } from './credentials.ts';
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
  /** Key files of the organizations file that cannot be used. They stop the export of their organization alone. */
  readonly organizationProblems: readonly UsageError[];
  readonly warnings: readonly SettingWarning[];
  /**
   * Reads the key files, and the organizations file, again; the other settings stay as they are.
   * @throws {UsageError} if one of them cannot be used any more. A key file that an organizations file names is the
   * problem of its organization alone.
   */
  reread(): Settings;
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

  const credentials = readCredentials(reader, request.directory);
  const baseUrl = reader.read(SETTINGS.baseUrl);
  const appUrl = reader.readOr(SETTINGS.appUrl, {
    value: baseUrl,
    source: baseUrl === null ? 'not set' : 'default: the base URL',
  });
  const others: Settings = {
    ...credentials.settings,
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
    archive: reader.read(SETTINGS.archive),
    spool: readSpool(reader),
    alerts: {
      pingUrl: reader.read(SETTINGS.pingUrl),
      webhook: reader.read(SETTINGS.alertWebhook),
      webhookFormat: reader.read(SETTINGS.alertWebhookFormat),
      restatementShare: reader.read(SETTINGS.alertRestatementShare),
    },
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
    serve: {
      schedule: reader.read(SETTINGS.serveSchedule),
      jitterMs: reader.read(SETTINGS.serveJitter),
      listen: reader.read(SETTINGS.serveListen),
    },
  };
  const exposed = [...credentials.exposedKeyFiles, token.fileReadableByOthers ?? []].flat();
  const warnings = [...warningsOf(sources), ...exposed.map(exposedKeyFile), ...weakSalt(settings.emails)];
  const { problems } = reader;
  const entries = inTableOrder(reader.entries);
  const reread = () => {
    const again = createSettingReader(sources, request.uses ?? ALL_SETTINGS);
    const { settings: fresh } = readCredentials(again, request.directory);
    throwFirst(again.problems);
    const { apiKey: _key, appApiKey: _app, orgId: _id, organizationsFile: _file, ...same } = settings;
    return { ...same, ...fresh };
  };
  const organizationProblems = problemsOf(settings);
  return { settings, debug, entries, problems, organizationProblems, warnings, reread };
}

function problemsOf({ organizationsFile }: Settings): UsageError[] {
  return (organizationsFile?.organizations ?? []).flatMap(({ name, problem }) =>
    problem === null
      ? []
      : [new UsageError(`${name}: ${problem.message}`, { cause: problem, hint: problem.hint })],
  );
}

function inTableOrder(entries: readonly SettingEntry[]): SettingEntry[] {
  const place = new Map(ALL_SETTINGS.map(({ env }, index) => [env, index]));
  return entries.toSorted((a, b) => (place.get(a.setting.env) ?? 0) - (place.get(b.setting.env) ?? 0));
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
  throwFirst(problems);
  return settings;
}

function throwFirst([first, ...others]: readonly UsageError[]): void {
  if (first === undefined) return;
  if (others.length === 0) throw first;
  throw new UsageError(first.message, {
    cause: first,
    hint: `${first.hint ?? 'correct it'}; ${others.length} more problems: daywalk config shows all`,
    details: first.details,
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
