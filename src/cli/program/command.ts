import type { JobContext } from '../../core/clock.ts';
import { adviceOf, messageOf, UsageError } from '../../core/errors.ts';
import type { ExitCode } from '../../core/exit-code.ts';
import {
  type NumberBounds,
  type Setting,
  type SettingGroup,
  type Settings,
  type SettingsReading,
  settingsIn,
  wholeNumber,
} from '../../settings/index.ts';
import type { Log, ReportedEvent } from '../output/log.ts';
import type { Output } from '../output/output.ts';

/** The name of a flag: `--from`. */
type FlagName = `--${string}`;

/**
 * The descriptions of a command's flags, by syntax: `{ '--from <day>': 'first day' }`. The flag of a setting is declared
 * with the setting.
 */
export type CommandFlags = Readonly<Record<FlagName, string>>;

/** The flag of every command that can print its result as JSON. */
export const jsonFlag: CommandFlags = { '--json': 'print the result as one JSON document' };

/** The settings of some groups, with those of every command. */
export function usesOf(...groups: readonly SettingGroup[]): readonly Setting[] {
  return settingsIn(...groups, 'clock', 'log');
}

/** Commands with the same first word, such as `sessions` in `sessions create`. */
export interface CommandGroup {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
}

/** The input, the output and the surroundings of a command. */
export interface CommandContext {
  readonly flags: Flags;
  /** The values of {@link Command.operands}, in the same order. */
  readonly operands: readonly string[];
  readonly settings: Settings;
  /** The settings with their sources and problems. */
  readonly reading: SettingsReading;
  /**
   * Reads the key files and the organizations file again. Outputs hide the new keys too.
   * @throws {UsageError} if one of them cannot be used any more.
   */
  rereadSettings(): Settings;
  readonly job: JobContext<ReportedEvent>;
  readonly log: Log;
  /** Standard output. Printing to it removes the progress line. */
  readonly out: Output;
  /** Opens standard input. A command that does not call it never waits for input. */
  input(): AsyncIterable<Uint8Array>;
  /** The working directory. */
  readonly directory: string;
  /** The shell command that starts this program from any folder, for example `daywalk`. */
  self(): string;
}

/**
 * Performs a command and returns its exit code.
 * @throws {DaywalkError} for every failure that the user can do something about.
 */
export type Action = (context: CommandContext) => Promise<ExitCode>;

/** The declaration of a command. The parser and the help are made from it. */
export interface Command {
  /** One word, or two with the {@link group} first: `sessions create`. */
  readonly name: string;
  readonly group?: CommandGroup;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The introduction of its own help. */
  readonly description: string;
  /** The settings that it reads. It accepts their flags, and its help lists them. */
  readonly uses: readonly Setting[];
  readonly flags: CommandFlags;
  readonly required?: readonly FlagName[];
  /** Flags whose value may be a URL with a password. No output shows the password. */
  readonly mayHoldPassword?: readonly FlagName[];
  /**
   * The descriptions of the arguments after the name: `{ '<event>': 'name of the event' }`. Those in square brackets may be
   * left out.
   */
  readonly operands?: Readonly<Record<`<${string}>` | `[${string}]`, string>>;
  /** At least two command lines that work, with their descriptions. */
  readonly examples: Readonly<Record<string, string>>;
  /** True when the command reports invalid settings itself; any other command refuses to start. */
  readonly acceptsInvalidSettings?: boolean;
  /** True for commands that only people run: their log is pretty by default, even without a terminal. */
  readonly isForPeople?: boolean;
  /** True for a command that runs for years: its log is collected and kept, so it leaves out whatever may name a person. */
  readonly isService?: boolean;
  /**
   * True for a command that changes nothing. The operating system ends it at a stop signal, also in the middle of a statement,
   * during which Node would hear no signal.
   */
  readonly onlyReads?: boolean;
  /** True when printing is the purpose of the command, so that losing its output is a failure. */
  readonly resultIsOutput: boolean;
  /** Loads the action. Help and usage errors load no action, so they are fast. */
  load(): Promise<Action>;
}

/** The flags of a command, with descriptions that say which of them it cannot do without. */
export function describedFlags({ flags, required = [] }: Command) {
  return Object.entries<string>(flags).map(([syntax, doc]) => {
    const isRequired = required.some((flag) => syntax.startsWith(`${flag} `));
    return { syntax, doc: isRequired ? `${doc}; required` : doc, isRequired };
  });
}

/** The flag of commands that are about one organization. */
export const organizationFlag: CommandFlags = {
  '--organization <name>':
    'the organization, by its ID or its name in the organizations file (default: the only one in the warehouse)',
};

/** The operand of every command that loads a CSV file. */
export const csvFileOperand = {
  '<file>': 'path of the CSV file: UTF-8, separated by commas, with a header line',
} as const;

/** The flags of one command line. */
export interface Flags {
  /** True when a flag without a value is given. */
  isOn(flag: `--${string}`): boolean;
  /** The value of a flag; undefined when it is not given. */
  text(flag: `--${string}`): string | undefined;
  /** All values of a flag that accepts several: `--event <name...>`. */
  texts(flag: `--${string}`): readonly string[];
  /**
   * The parsed value of a flag; undefined when it is not given.
   * @throws {UsageError} that names the flag.
   */
  parse<Value>(flag: `--${string}`, parser: (text: string) => Value): Value | undefined;
  /** The value of a flag that is written as a setting is. */
  like<Value>(flag: `--${string}`, setting: Setting<Value | null>): Value | undefined;
  /**
   * The value of a flag as a whole number within bounds; undefined when it is not given.
   * @throws {UsageError} that names the flag.
   */
  number(flag: `--${string}`, bounds: NumberBounds): number | undefined;
}

/** Wraps the values that the parser returned, by flag. */
export function createFlags(values: Readonly<Record<string, unknown>>): Flags {
  const text = (flag: string) => {
    const value = values[flag];
    return typeof value === 'string' ? value : undefined;
  };
  const parse = <Value>(flag: string, parser: (text: string) => Value) => {
    const value = text(flag);
    return value === undefined ? undefined : parseNamed(flag, value, parser);
  };
  return {
    isOn: (flag) => values[flag] === true,
    text,
    texts: (flag) => textsOf(values[flag]),
    parse,
    number: (flag, bounds) => parse(flag, wholeNumber(bounds)),
    like: (flag, setting) => parse(flag, (text) => setting.parse(text, '').value) ?? undefined,
  };
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function parseNamed<Value>(flag: string, text: string, parser: (text: string) => Value): Value {
  try {
    return parser(text);
  } catch (error) {
    throw new UsageError(`${flag}: ${messageOf(error)}`, { cause: error, ...adviceOf(error) });
  }
}

/** The groups of settings of commands that pull from the service. */
export const EXPORT = [
  'service',
  'readiness',
  'organizations',
  'warehouse',
  'pull',
  'audiences',
  'requests',
  'emails',
  'archive',
  'expected',
  'retention',
  'erasures',
  'spool',
] as const;
