import { adviceOf, messageOf, UsageError } from '../core/errors.ts';
import { type Given, lookUp, type SettingSources } from './lookup.ts';
import type { AnySetting, Setting } from './setting.ts';

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
