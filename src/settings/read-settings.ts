import { nearestName, UsageError } from '../core/errors.ts';
import type { EmailPolicy } from '../privacy/index.ts';
import { type Dotenv, type DotenvFault, readDotenv } from './dotenv.ts';
import { readKeyFile } from './key-file.ts';
import { readOrganizations } from './organizations.ts';
import {
  findGiven,
  type GivenTexts,
  readTable,
  refusedEntry,
  type Setting,
  type SettingEntry,
  type SettingSources,
} from './setting.ts';
import { type LogFormat, type Settings, settingsOf } from './settings.ts';
import { ALL_SETTINGS, SETTINGS, type SettingValues } from './settings-table.ts';

/** The sources of settings. Only an entry point knows them. */
interface SettingsRequest {
  /** Values of flags by flag, for example `--base-url`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory: the place of `.env`, and the start of relative paths of key files. */
  readonly directory: string;
  /** The default of `--log`, which depends on the terminal. */
  readonly logDefault: LogFormat;
  /** The default of `--patience`, which depends on the terminal. @default that of the table */
  readonly patienceDefault?: number | undefined;
  /** The settings that the command uses; the others are not read and keep their defaults. @default all */
  readonly uses?: readonly Setting[];
}

/** The settings that were read, and every problem with them. */
export interface SettingsReading {
  /** Valid only if `problems` is empty: a refused value is replaced by its default. */
  readonly settings: Settings;
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
  const { exposedKeyFiles, ...read } = readSources(sources, request);
  const refusedLines = dotenv.faults.map(refusedLine);
  return {
    ...read,
    problems: [...refusedLines, ...read.problems],
    organizationProblems: problemsOf(read.settings),
    warnings: [
      ...warningsOf(sources, dotenv),
      ...exposedKeyFiles.map(exposedKeyFile),
      ...weakSalt(read.settings.emails),
    ],
    reread: () => soundSettings(readSources(sources, request)),
  };
}

function readSources(
  sources: SettingSources,
  { uses = ALL_SETTINGS, directory, logDefault, patienceDefault }: SettingsRequest,
): Pick<SettingsReading, 'settings' | 'entries' | 'problems'> & {
  readonly exposedKeyFiles: readonly string[];
} {
  const given = findGiven(uses, sources);
  const contradictions = chooseCredentials(given);
  const defaults = { log: logDefault, ...(patienceDefault !== undefined && { patience: patienceDefault }) };
  const { values, entries } = readTable(SETTINGS, { given, directory, defaults });
  for (const setting of ALL_SETTINGS) if (!uses.includes(setting)) entries.delete(setting);
  const { credentials, exposedKeyFiles } = openCredentials(values, given, entries);
  const shown = [...entries.values()];
  const refused = shown.flatMap(({ problem }) => problem ?? []);
  const hasNoSalt = values.emailMode === 'hash' && !given.has(SETTINGS.emailSalt);
  const keepsAddresses = values.emailMode === 'keep' && values.userMode !== 'keep';
  const problems = [
    ...[...contradictions, ...refused],
    ...(hasNoSalt ? [noSalt()] : []),
    ...(keepsAddresses ? [addressesKept(values.userMode)] : []),
  ];
  return { settings: settingsOf(values, credentials), entries: shown, problems, exposedKeyFiles };
}

function noSalt(): UsageError {
  return new UsageError('emails are to be hashed and DAYWALK_EMAIL_SALT is not set', {
    hint: 'set it to a long random text and keep it: openssl rand -hex 32',
  });
}

function addressesKept(users: string): UsageError {
  return new UsageError(`${SETTINGS.userMode.env} is ${users}, and email addresses are kept`, {
    hint: `set ${SETTINGS.emailMode.env} to hash or drop`,
  });
}

/** Returns the environment with the lower-case names of the proxy variables preferred, as in other programs. */
function withProxyNames(env: SettingSources['env']): SettingSources['env'] {
  const names = ALL_SETTINGS.flatMap((setting) => (setting.env.startsWith(PREFIX) ? [] : [setting.env]));
  return { ...env, ...Object.fromEntries(names.map((name) => [name, env[name.toLowerCase()] ?? env[name]])) };
}

function problemsOf({ organizationsFile }: Settings): UsageError[] {
  return (organizationsFile?.organizations ?? []).flatMap(({ name, problem }) =>
    problem === null
      ? []
      : [new UsageError(`${name}: ${problem.message}`, { cause: problem, hint: problem.hint })],
  );
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
export function soundSettings({
  settings,
  problems,
}: Pick<SettingsReading, 'settings' | 'problems'>): Settings {
  const [first, ...others] = problems;
  if (first === undefined) return settings;
  if (others.length === 0) throw first;
  throw new UsageError(first.message, {
    cause: first,
    hint: `${first.hint ?? 'correct it'}; daywalk config shows ${others.length} more`,
    details: first.details,
  });
}

/** A problem with the settings that does not stop the command. */
interface SettingWarning {
  readonly message: string;
  readonly hint: string | undefined;
}

/** 64 random bits in hexadecimal. Shorter salts can be found by trying them all. */
const SALT_LENGTH_MIN = 16;
const PREFIX = 'DAYWALK_';
const KNOWN = ALL_SETTINGS.map((setting) => setting.env);

/** Warnings about values that are probably mistakes. */
function warningsOf({ env }: SettingSources, dotenv: Dotenv): SettingWarning[] {
  return [
    ...unknownNames(env, () => 'in the environment'),
    ...unknownNames(dotenv.values, (name) => `in .env line ${dotenv.lineOf(name) ?? '?'}`),
    ...untrusted(dotenv),
    ...exposedDotenv(dotenv),
  ];
}

/** The warning that other users can read a key file. */
function exposedKeyFile(path: string): SettingWarning {
  return { message: `other users can read the key file ${path}`, hint: `chmod 600 ${path}` };
}

/** The warning that a salt is too short to protect hashed addresses; empty if it is long enough. */
function weakSalt(policy: EmailPolicy): SettingWarning[] {
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

function untrusted({ values, lineOf }: Dotenv): SettingWarning[] {
  return ALL_SETTINGS.filter(({ env, isInDotenv }) => !isInDotenv && (values[env] ?? '') !== '').map(
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

/** The keys. Each has a setting of its own, and one that names its file. */
const KEYS = ['apiKey', 'appApiKey', 'dashboardToken', 'mcpToken', 'emulateToken'] as const;
type Key = (typeof KEYS)[number];

/** What cannot be set beside an organizations file, because it names one organization. */
const SINGULAR = ['apiKey', 'apiKeyFile', 'appApiKey', 'appApiKeyFile', 'orgId'] as const;

/**
 * Decides which credentials count, removes the others from what is given, and returns the contradictions. With an
 * organizations file, nothing else counts. Of a key and its file, the one from the stronger source wins; both from the same
 * source is a contradiction, because one of them is stale.
 */
function chooseCredentials(given: GivenTexts): UsageError[] {
  return [...removeSingular(given), ...KEYS.flatMap((name) => removeWeaker(given, name) ?? [])];
}

function removeSingular(given: GivenTexts): UsageError[] {
  const list = given.get(SETTINGS.organizations);
  if (list === undefined) return [];
  return SINGULAR.flatMap((name) => {
    const other = given.get(SETTINGS[name]);
    given.delete(SETTINGS[name]);
    // Container templates leave unused variables empty.
    if (other === undefined || other.text === '') return [];
    return new UsageError(`${other.where} contradicts ${list.where}`, {
      hint: 'remove one of them: with an organizations file, each organization has its own key in the file',
    });
  });
}

function removeWeaker(given: GivenTexts, name: Key): UsageError | null {
  const [key, file] = [SETTINGS[name], SETTINGS[`${name}File`]];
  const [byKey, byFile] = [given.get(key), given.get(file)];
  if (byKey === undefined || byFile === undefined) return null;
  // Container templates leave an unused variable empty beside a key file.
  const isKey = byKey.text !== '' && byKey.kind === 'environment';
  given.delete(isKey ? file : key);
  if (byKey.text === '' || byKey.kind !== byFile.kind) return null;
  return new UsageError(`${key.env} and ${file.env} are both set in the ${byKey.kind}`, {
    hint: 'remove one of them',
  });
}

/** The credentials of the settings, and the key files that other users can read. */
interface OpenedCredentials {
  readonly credentials: Pick<Settings, Key | 'keyVariables' | 'organizationsFile'>;
  readonly exposedKeyFiles: readonly string[];
}

/**
 * Reads the files that the settings name: of keys, and of organizations with their key files. A file that cannot be used
 * becomes the problem of its setting.
 */
function openCredentials(
  values: SettingValues,
  given: GivenTexts,
  entries: Map<Setting, SettingEntry>,
): OpenedCredentials {
  const open = <Content>(setting: Setting, path: string | null, read: (path: string) => Content) => {
    const found = given.get(setting);
    if (path === null || found === undefined) return null;
    try {
      return read(path);
    } catch (error) {
      entries.set(setting, refusedEntry(setting, found, error));
      return null;
    }
  };
  const exposedKeyFiles: string[] = [];
  const keyOf = (name: Key) => {
    const inFile = open(SETTINGS[`${name}File`], values[`${name}File`], (path) => {
      const { text, readableByOthers } = readKeyFile(path);
      if (readableByOthers) exposedKeyFiles.push(path);
      return SETTINGS[name].parse(text, '').value;
    });
    return values[name] ?? inFile;
  };
  const keys = {
    apiKey: keyOf('apiKey'),
    appApiKey: keyOf('appApiKey'),
    dashboardToken: keyOf('dashboardToken'),
    mcpToken: keyOf('mcpToken'),
    emulateToken: keyOf('emulateToken'),
  };
  const withKeys = entries.has(SETTINGS.apiKey);
  const organizationsFile = open(SETTINGS.organizations, values.organizations, (path) =>
    readOrganizations(path, { withKeys }),
  );
  exposedKeyFiles.push(...(organizationsFile?.exposedKeyFiles ?? []));
  const variableOf = (name: 'apiKey' | 'appApiKey') => {
    const setting =
      SETTINGS[values[name] === null && values[`${name}File`] !== null ? (`${name}File` as const) : name];
    const found = given.get(setting);
    return found?.kind === '.env' ? found.where : setting.env;
  };
  const keyVariables = { apiKey: variableOf('apiKey'), appApiKey: variableOf('appApiKey') };
  return { credentials: { ...keys, keyVariables, organizationsFile }, exposedKeyFiles };
}
