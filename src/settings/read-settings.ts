import { UsageError } from '../core/errors.ts';
import { nearestName } from '../core/nearest.ts';
import type { EmailPolicy } from '../privacy/email.ts';
import { DASHBOARD_TOKEN, readApiKey, readCredentials } from './credentials.ts';
import { type Dotenv, type DotenvFault, readDotenv } from './dotenv.ts';
import { readNotifySettings } from './hook-settings.ts';
import { readProxy, withProxyNames } from './network-settings.ts';
import {
  type AnySetting,
  createSettingReader,
  type SettingEntry,
  type SettingReader,
  type SettingSources,
} from './setting.ts';
import type { LogFormat, Settings } from './settings.ts';
import { ALL_SETTINGS, SETTINGS } from './settings-table.ts';

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

/** A problem with the settings that does not stop the command. */
export interface SettingWarning {
  readonly message: string;
  readonly hint: string | undefined;
}

/** 64 random bits in hexadecimal. Shorter salts can be found by trying them all. */
const SALT_LENGTH_MIN = 16;
const PREFIX = 'DAYWALK_';
const KNOWN = ALL_SETTINGS.map((setting) => setting.env);

/** Warnings about values that are probably mistakes. */
export function warningsOf({ env, dotenv }: Pick<SettingSources, 'env' | 'dotenv'>): SettingWarning[] {
  return [
    ...unknownNames(env, () => 'in the environment'),
    ...unknownNames(dotenv.values, (name) => `in .env line ${dotenv.lineOf(name) ?? '?'}`),
    ...untrusted(dotenv),
    ...exposedDotenv(dotenv),
  ];
}

/** The warning that other users can read a key file. */
export function exposedKeyFile(path: string): SettingWarning {
  return { message: `other users can read the key file ${path}`, hint: `chmod 600 ${path}` };
}

/** The warning that a salt is too short to protect hashed addresses; empty if it is long enough. */
export function weakSalt(policy: EmailPolicy): SettingWarning[] {
  if (policy.mode !== 'hash' || policy.salt.length >= SALT_LENGTH_MIN) return [];
  return [
    {
      message: `${SETTINGS.emailSalt.env} is shorter than ${SALT_LENGTH_MIN} characters: hashed addresses could be guessed`,
      hint: 'generate a longer one: openssl rand -hex 32',
    },
  ];
}

function unknownNames(
  variables: Readonly<Record<string, string | undefined>>,
  where: (name: string) => string,
): SettingWarning[] {
  return Object.keys(variables)
    .filter((name) => name.startsWith(PREFIX) && !KNOWN.some((known) => known === name))
    .map((name) => {
      const nearest = nearestName(name, KNOWN);
      return {
        message: `${name} ${where(name)} is not a setting and has no effect`,
        hint: nearest === undefined ? 'daywalk config lists the settings' : `did you mean ${nearest}?`,
      };
    });
}

// The receiver runs in folders in which agents work. Other people may control them, so a `.env` there must not
// decide where texts of a session are sent.
function untrusted({ values, lineOf }: Dotenv): SettingWarning[] {
  return ALL_SETTINGS.filter(({ env, isInDotenv }) => isInDotenv === false && (values[env] ?? '') !== '').map(
    ({ env }) => ({
      message: `${env} in .env line ${lineOf(env) ?? '?'} has no effect`,
      hint: 'set notifications in the environment of the agent, or by flags in the hooks file',
    }),
  );
}

function exposedDotenv({ values, readableByOthers }: Dotenv): SettingWarning[] {
  const holdsSecret = ALL_SETTINGS.some((setting) => setting.secret && (values[setting.env] ?? '') !== '');
  if (!readableByOthers || !holdsSecret) return [];
  const secret = (values[SETTINGS.apiKey.env] ?? '') === '' ? 'a secret' : 'the API key';
  return [{ message: `.env holds ${secret}, and other users can read it`, hint: 'chmod 600 .env' }];
}
