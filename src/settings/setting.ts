import { adviceOf, messageOf, UsageError } from '../core/errors.ts';
import type { Dotenv } from './dotenv.ts';

/** One setting. Flags, help, `daywalk config`, `.env.example` and the documentation are generated from it. */
export interface Setting<Value = unknown, Fallback = unknown> {
  /** Name of the environment variable; the same name works in a `.env` file. */
  readonly env: `DAYWALK_${string}` | 'HTTPS_PROXY' | 'HTTP_PROXY' | 'NO_PROXY';
  /** Name of the flag; null if the value is a secret or the setting makes no sense on the command line. */
  readonly flag: `--${string}` | null;
  /** Placeholder for the value in help, without brackets. */
  readonly placeholder: string;
  /** Describes the setting in one line. */
  readonly doc: string;
  /** Default value; null leaves the setting unset. */
  readonly fallback: Fallback;
  /** The default in words, if the value does not explain itself. */
  readonly fallbackDoc?: string;
  /** True if no output may ever show the value. */
  readonly secret: boolean;
  /** False if `.env` is ignored, because the command runs in folders that other people may control. */
  readonly isInDotenv?: boolean;
  /** True if the flag may be given several times; its values are joined by commas. */
  readonly isRepeatable?: boolean;
  /** An example value for `.env.example`, if there is no default. */
  readonly example?: string;
  /**
   * Parses the text of the setting.
   * @throws {UsageError} with only the reason; the reader adds the source of the text.
   */
  readonly parse: (text: string) => Value;
  /** Formats the value for output. */
  readonly show: (value: Value) => string;
}

/** Any setting. `never` in the position of the value makes every `show` fit. */
export type AnySetting = Omit<Setting, 'show'> & { readonly show: (value: never) => string };

/** Completes a declaration: not secret, shown as text, unset by default. */
export function setting<Value, const Fallback extends Value | null>(
  spec: Pick<Setting, 'env' | 'flag' | 'placeholder' | 'doc'> & {
    readonly parse: (text: string) => Value;
    readonly fallback: Fallback;
    readonly fallbackDoc?: string;
    readonly secret?: boolean;
    readonly isInDotenv?: boolean;
    readonly isRepeatable?: boolean;
    readonly example?: string;
    readonly show?: (value: Value) => string;
  },
): Setting<Value, Fallback> {
  return { secret: false, show: String, ...spec };
}

/** Where settings may come from, strongest first: flags, environment, `.env`. */
export interface SettingSources {
  /** Values of flags by flag, for example `--base-url`. */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly dotenv: Dotenv;
}

/** The text given for a setting. */
export interface Given {
  readonly text: string;
  readonly kind: 'flag' | 'environment' | '.env';
  /** The source in a table: `flag`, `environment`, `.env line 3`. */
  readonly source: string;
  /** The source in a sentence: `--attempts`, `DAYWALK_ATTEMPTS in the environment`. */
  readonly where: string;
}

/**
 * Returns the text given for a setting by its strongest source; null if none gives one. An empty variable gives none, as in
 * `DAYWALK_LOG=`, except for secrets: an empty secret is a broken deployment and must not pass for a missing one.
 */
export function lookUp(setting: AnySetting, { flags, env, dotenv }: SettingSources): Given | null {
  const flag = setting.flag === null ? undefined : flags[setting.flag];
  if (flag !== undefined)
    return { text: flag.trim(), kind: 'flag', source: 'flag', where: setting.flag ?? '' };

  const fromEnv = textOf(setting, env[setting.env]);
  if (fromEnv !== null) {
    return {
      text: fromEnv,
      kind: 'environment',
      source: 'environment',
      where: `${setting.env} in the environment`,
    };
  }

  const fromFile = setting.isInDotenv === false ? null : textOf(setting, dotenv.values[setting.env]);
  if (fromFile === null) return null;
  const line = dotenv.lineOf(setting.env);
  const source = line === undefined ? '.env' : `.env line ${line}`;
  return { text: fromFile, kind: '.env', source, where: `${setting.env} in ${source}` };
}

function textOf(setting: AnySetting, text: string | undefined): string | null {
  if (text === undefined) return null;
  const trimmed = text.trim();
  return trimmed === '' && !setting.secret ? null : trimmed;
}

/** One line of `daywalk config`. */
export interface SettingEntry {
  readonly setting: AnySetting;
  /** The value in printable form; null if it is not set. */
  readonly value: string | null;
  /** `flag`, `environment`, `.env line 3`, `default` or `not set`. */
  readonly source: string;
  readonly problem: UsageError | null;
}

/** A default that depends on another setting. */
export interface ComputedDefault<Value> {
  readonly value: Value;
  readonly source: string;
}

/** Reads settings one by one and keeps what `daywalk config` shows of each. */
export interface SettingReader {
  readonly entries: readonly SettingEntry[];
  readonly problems: readonly UsageError[];
  /** Returns the value of a setting, or its default if nothing is given or the setting is not used. */
  read<Value, Fallback>(setting: Setting<Value, Fallback>): Value | Fallback;
  /** Like `read`, with a default that depends on another setting. */
  readOr<Value, Fallback, Default>(
    setting: Setting<Value, Fallback>,
    computed: ComputedDefault<Default>,
  ): Value | Default;
  /** Records the value of a setting that is found by other rules. */
  note<Value, Fallback>(
    setting: Setting<Value, Fallback>,
    given: Given | null,
    parse: () => Value,
  ): Value | Fallback;
  /** Returns the text given for a setting; null if there is none, or the setting is not used. */
  lookUp(setting: AnySetting): Given | null;
  /** True if the command reads the setting. */
  isUsed(setting: AnySetting): boolean;
  /** Records a problem between settings. */
  refuse(problem: UsageError): void;
}

/** Creates a reader that looks only at the settings in `uses`, so that a command never reads a secret it does not need. */
export function createSettingReader(sources: SettingSources, uses: readonly AnySetting[]): SettingReader {
  const entries: SettingEntry[] = [];
  const problems: UsageError[] = [];
  const isUsed = (setting: AnySetting) => uses.some((used) => used.env === setting.env);
  const find = (setting: AnySetting) => (isUsed(setting) ? lookUp(setting, sources) : null);

  function attempt<Value, Default>(
    setting: Setting<Value, unknown>,
    given: Given | null,
    parse: (text: string) => Value,
    byDefault: ComputedDefault<Default>,
    showDefault: string | null,
  ): Value | Default {
    if (given === null) {
      if (isUsed(setting))
        entries.push({ setting, value: showDefault, source: byDefault.source, problem: null });
      return byDefault.value;
    }
    try {
      const value = parse(given.text);
      entries.push({ setting, value: setting.show(value), source: given.source, problem: null });
      return value;
    } catch (error) {
      const problem = problemOf(given, error);
      problems.push(problem);
      entries.push({ setting, value: null, source: given.source, problem });
      return byDefault.value;
    }
  }

  return {
    entries,
    problems,
    lookUp: find,
    isUsed,
    refuse: (problem) => void problems.push(problem),
    read: (setting) =>
      attempt(setting, find(setting), setting.parse, defaultOf(setting), shownDefault(setting)),
    readOr: (setting, computed) => {
      const shown = computed.value === null ? null : String(computed.value);
      return attempt(setting, find(setting), setting.parse, computed, shown);
    },
    note: (setting, given, parse) =>
      attempt(setting, given, parse, defaultOf(setting), shownDefault(setting)),
  };
}

interface Defaults<Fallback> {
  readonly fallback: Fallback;
  readonly fallbackDoc?: string;
}

function defaultOf<Fallback>(setting: Defaults<Fallback>): ComputedDefault<Fallback> {
  const isSet = setting.fallback !== null || setting.fallbackDoc !== undefined;
  return { value: setting.fallback, source: isSet ? 'default' : 'not set' };
}

function shownDefault(setting: Defaults<unknown>): string | null {
  if (setting.fallbackDoc !== undefined) return setting.fallbackDoc;
  return setting.fallback === null ? null : String(setting.fallback);
}

function problemOf(given: Given, error: unknown): UsageError {
  const details = error instanceof UsageError ? error.details : [];
  return new UsageError(`${given.where}: ${messageOf(error)}`, { cause: error, ...adviceOf(error), details });
}
