import { adviceOf, messageOf, UsageError } from '../core/errors.ts';
import type { Dotenv } from './dotenv.ts';
import { REDACTED } from './secrets.ts';

/** What a setting is about. A command names the groups that it reads; its flags and its help follow. */
export type SettingGroup =
  | 'service'
  | 'readiness'
  | 'organizations'
  | 'warehouse'
  | 'reading'
  | 'pull'
  | 'audiences'
  | 'requests'
  | 'emails'
  | 'archive'
  | 'expected'
  | 'retention'
  | 'erasures'
  | 'spool'
  | 'notify'
  | 'alerts'
  | 'log'
  | 'clock'
  | 'dashboard'
  | 'assistants'
  | 'emulator'
  | 'serve';

/** The declaration of a setting with values of a type. */
interface SettingSpec<Value> {
  readonly group: SettingGroup;
  /** Flag and placeholder: `--attempts <number>`. Absent if the value is a secret or makes no sense on the command line. */
  readonly flag?: `--${string} <${string}>`;
  /** Describes the setting in one line. */
  readonly doc: string;
  /** The default in words, if there is none or it does not explain itself. */
  readonly fallbackDoc?: string;
  /** The setting, declared earlier in the table, whose value is the default. */
  readonly inherits?: string;
  /** True if no output may ever show the value. */
  readonly secret?: boolean;
  /** The parts of its text that no output may show. @default the text of a secret, otherwise nothing */
  readonly secretsIn?: (text: string) => readonly string[];
  /** True if the flag may be given several times; its values are joined by commas. */
  readonly isRepeatable?: boolean;
  /** A value for `.env.example`. @default the default */
  readonly example?: string;
  /**
   * Parses the text of the setting; relative paths begin in the directory.
   * Its range, if it has one, is shown after the description.
   * @throws {UsageError} with only the reason; the reader adds the source of the text.
   */
  readonly parse: ((text: string, directory: string) => Value) & { readonly range?: string };
  /** Formats the value for output. @default numbers and words as they are, lists with commas */
  readonly show?: (value: Value) => string;
}

/** One setting. Its type, reading, flag, help, `daywalk config`, `.env.example` and documentation come from its declaration. */
export interface Setting<Value = unknown>
  extends Pick<SettingSpec<Value>, 'group' | 'doc' | 'fallbackDoc' | 'inherits' | 'isRepeatable'> {
  /** Name of the environment variable; the same name works in a `.env` file. */
  readonly env: string;
  readonly flag: `--${string}` | null;
  /** Placeholder for the value of the flag, without brackets. */
  readonly placeholder: string;
  readonly secret: boolean;
  readonly secretsIn: (text: string) => readonly string[];
  /** False if `.env` is ignored, because the command runs in folders that other people may control. */
  readonly isInDotenv: boolean;
  readonly example: string;
  readonly fallback: Value;
  /** The default as it is shown; null if there is none. */
  readonly fallbackText: string | null;
  /**
   * Returns the value of a text, and how it is shown.
   * @throws {UsageError} with only the reason.
   */
  readonly parse: (text: string, directory: string) => { readonly value: Value; readonly shown: string };
}

/** Declares a setting; without a default, its value may be null. */
export function setting<Value>(
  env: string,
  spec: SettingSpec<Value> & { readonly fallback: NoInfer<Value> },
): Setting<Value>;
export function setting<Value>(env: string, spec: SettingSpec<Value>): Setting<Value | null>;
export function setting<Value>(
  env: string,
  { fallback, ...spec }: SettingSpec<Value> & { readonly fallback?: Value },
): Setting<Value | null> {
  const { secret = false, show = shownPlainly, fallbackDoc, secretsIn, flag: syntax = '' } = spec;
  const [, flag, placeholder = ''] = /^(--\S+) <(.+)>$/.exec(syntax) ?? [];
  const text = fallback === undefined ? null : show(fallback);
  return {
    ...spec,
    doc: spec.parse.range === undefined ? spec.doc : `${spec.doc}; ${spec.parse.range}`,
    env,
    flag: flag === undefined ? null : `--${flag.slice(2)}`,
    placeholder,
    secret,
    secretsIn: secretsIn ?? ((value) => (secret ? [value] : [])),
    // The receiver runs in folders in which agents work. Other people may control them, so a `.env` there must not decide
    // where texts of a session are sent.
    isInDotenv: spec.group !== 'notify',
    example: spec.example ?? text ?? '',
    fallback: fallback ?? null,
    fallbackText: fallbackDoc ?? text,
    parse: (given, directory) => {
      const value = spec.parse(given, directory);
      return { value, shown: secret ? REDACTED : show(value) };
    },
  };
}

function shownPlainly(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  if (typeof value === 'boolean') return value ? '1' : '0';
  const text = Array.isArray(value) ? value.join(',') : String(value ?? '');
  return text === '' ? 'none' : text;
}

/** Where settings may come from, strongest first: flags, environment, `.env`. */
export interface SettingSources {
  /** Values of flags by flag, for example `--base-url`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dotenv: Pick<Dotenv, 'values' | 'lineOf'>;
}

/** The text given for a setting. */
interface Given {
  readonly text: string;
  readonly kind: 'flag' | 'environment' | '.env';
  /** The source in a table: `flag`, `environment`, `.env line 3`. */
  readonly source: string;
  /** The source in a sentence: `--attempts`, `DAYWALK_ATTEMPTS in the environment`. */
  readonly where: string;
}

/**
 * The text given for a setting by its strongest source; null if none gives one. An empty variable gives none, as in
 * `DAYWALK_LOG=`, except for secrets: an empty secret is a broken deployment and must not pass for a missing one.
 */
function lookUp(setting: Setting, { flags, env, dotenv }: SettingSources): Given | null {
  const { env: name, flag } = setting;
  const byFlag = flag === null ? undefined : flags[flag];
  if (flag !== null && byFlag !== undefined)
    return { text: byFlag.trim(), kind: 'flag', source: 'flag', where: flag };
  const byEnv = textOf(setting, env[name]);
  if (byEnv !== null)
    return { text: byEnv, kind: 'environment', source: 'environment', where: `${name} in the environment` };
  const byFile = setting.isInDotenv ? textOf(setting, dotenv.values[name]) : null;
  if (byFile === null) return null;
  const line = dotenv.lineOf(name);
  const source = line === undefined ? '.env' : `.env line ${line}`;
  return { text: byFile, kind: '.env', source, where: `${name} in ${source}` };
}

function textOf({ secret }: Setting, text: string | undefined): string | null {
  const trimmed = text?.trim();
  return trimmed === undefined || (trimmed === '' && !secret) ? null : trimmed;
}

/** The texts that are given for settings. */
export type GivenTexts = Map<Setting, Given>;

/** Finds the texts that the sources give for settings. */
export function findGiven(settings: readonly Setting[], sources: SettingSources): GivenTexts {
  return new Map(
    settings.flatMap((setting) => {
      const given = lookUp(setting, sources);
      return given === null ? [] : [[setting, given] as const];
    }),
  );
}

/** One line of `daywalk config`. */
export interface SettingEntry {
  readonly setting: Setting;
  /** The value in printable form; null if it is not set. */
  readonly value: string | null;
  /** `flag`, `environment`, `.env line 3`, `default` or `not set`. */
  readonly source: string;
  readonly problem: UsageError | null;
}

/** Settings by their names in the code. */
type SettingTable = Readonly<Record<string, Setting>>;

/** The values of a table, by the same names. */
export type ValuesOf<Table extends SettingTable> = {
  readonly [Name in keyof Table]: Table[Name]['fallback'];
};

/** What is known of the settings of a table. */
interface TableRequest<Table extends SettingTable> {
  readonly given: GivenTexts;
  /** The start of relative paths. */
  readonly directory: string;
  /** Defaults that depend on more than the table. */
  readonly defaults?: Partial<ValuesOf<Table>>;
}

/** Parses what is given for a table of settings. A refused value is replaced by its default, and its entry has the problem. */
export function readTable<Table extends SettingTable>(
  table: Table,
  { given, directory, defaults = {} }: TableRequest<Table>,
): { readonly values: ValuesOf<Table>; readonly entries: Map<Setting, SettingEntry> } {
  const values: Record<string, unknown> = {};
  const entries = new Map<Setting, SettingEntry>();
  for (const [name, setting] of Object.entries(table)) {
    const byDefault = defaultOf(setting, { own: defaults[name], earlier: values });
    const found = given.get(setting);
    values[name] = byDefault.fallback;
    entries.set(setting, { setting, value: byDefault.text, source: byDefault.source, problem: null });
    if (found === undefined) continue;
    try {
      const { value, shown } = setting.parse(found.text, directory);
      values[name] = value;
      entries.set(setting, { setting, value: shown, source: found.source, problem: null });
    } catch (error) {
      entries.set(setting, refusedEntry(setting, found, error));
    }
  }
  // The values have the names and the types of the table that they were read by.
  return { values: values as ValuesOf<Table>, entries };
}

function defaultOf(
  { fallback, fallbackText, fallbackDoc, inherits }: Setting,
  { own, earlier }: { own: unknown; earlier: Readonly<Record<string, unknown>> },
): { readonly fallback: unknown; readonly text: string | null; readonly source: string } {
  if (own !== undefined) return { fallback: own, text: String(own), source: 'default' };
  const inherited = inherits === undefined ? undefined : earlier[inherits];
  if (inherited === undefined)
    return { fallback, text: fallbackText, source: fallbackText === null ? 'not set' : 'default' };
  return inherited === null
    ? { fallback: null, text: null, source: 'not set' }
    : { fallback: inherited, text: String(inherited), source: `default: ${fallbackDoc}` };
}

/** The entry of a setting whose value is refused. */
export function refusedEntry(setting: Setting, { where, source }: Given, error: unknown): SettingEntry {
  const details = error instanceof UsageError ? error.details : [];
  const options = { cause: error, ...adviceOf(error), details };
  const problem = new UsageError(`${where}: ${messageOf(error)}`, options);
  return { setting, value: null, source, problem };
}
