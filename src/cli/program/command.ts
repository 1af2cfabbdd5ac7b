import type { ExitCode } from '../../core/exit-code.ts';
import type { JobContext } from '../../core/job-context.ts';
import type { SettingsReading } from '../../settings/read-settings.ts';
import type { AnySetting } from '../../settings/setting.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Flags } from '../arguments/flags.ts';
import type { Log } from '../log/log.ts';
import type { Output } from '../output/output.ts';
import type { ReportedEvent } from '../output/reported-event.ts';

/** A flag of one command. Flags of settings are not declared here, they come with the setting. */
export interface CommandFlag {
  /** As in help: `--from <day>`, `--json`. */
  readonly syntax: `--${string}`;
  readonly doc: string;
  readonly required?: boolean;
  /** True when its value may be a URL with a password in it, which no output shows. */
  readonly mayHoldPassword?: boolean;
}

/** The name of a flag: `--from` of `--from <day>`. */
export function flagName(syntax: CommandFlag['syntax']): `--${string}` {
  return `--${syntax.slice(2).split(' ', 1).join('')}`;
}

/** Commands that share the first word of their names, such as `sessions` in `sessions create`. */
export interface CommandGroup {
  /** The shared word. */
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
}

/** A value that a command takes by its place, after its name. */
export interface Operand {
  /** As in help: `<event>`. */
  readonly syntax: `<${string}>`;
  readonly doc: string;
}

/** A command line that works, and what it does. */
export interface Example {
  readonly line: string;
  readonly does: string;
}

/** What a command is given to work with. */
export interface CommandContext {
  readonly flags: Flags;
  /** What was given for {@link Command.operands}, in their order. */
  readonly operands: readonly string[];
  readonly settings: Settings;
  /** The settings with their sources and problems. */
  readonly reading: SettingsReading;
  /** What jobs need: clock, signal, observer. */
  readonly job: JobContext<ReportedEvent>;
  readonly log: Log;
  /** Standard output. Printing a result ends the progress. */
  readonly out: Output;
  /** Standard input. Not touched before the call, so that a command that reads nothing does not wait for it. */
  input(): AsyncIterable<Uint8Array>;
  /** The working directory. */
  readonly directory: string;
  /** How a shell calls this program from any folder, without the command. */
  self(): string;
}

/** A command: what help says about it, and what it does. */
export interface Command {
  /** One word, or two where {@link Command.group} is the first: `sessions create`. */
  readonly name: string;
  readonly group?: CommandGroup;
  /** One line for the list of commands. */
  readonly summary: string;
  /** More, for its own help. */
  readonly description: string;
  /** The settings that it reads. It has their flags, and its help explains them. */
  readonly uses: readonly AnySetting[];
  readonly flags: readonly CommandFlag[];
  /** All of them must be given. Most commands have none. */
  readonly operands?: readonly Operand[];
  readonly examples: readonly [Example, Example, ...Example[]];
  /** True when the command explains unsound settings instead of refusing to start. */
  readonly acceptsUnsoundSettings?: boolean;
  /** True when people alone run it: logs are pretty unless asked otherwise, also where no terminal is. */
  readonly isForPeople?: boolean;
  /** True when its result is what it prints: losing that is a failure. Elsewhere the result is in the warehouse. */
  readonly resultIsOutput: boolean;
  /**
   * Does it. Imports what it needs when it runs, so that help and errors do not wait for what they do not use.
   * @throws {DaywalkError} for everything that the caller should know about.
   */
  act(context: CommandContext): Promise<ExitCode>;
}
