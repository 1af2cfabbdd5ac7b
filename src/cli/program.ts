import { Command as Commander, CommanderError, Option } from 'commander';
import { UsageError } from '../core/errors.ts';
import type { Command, CommandFlag, CommandGroup } from './command.ts';
import { createFlags, type Flags } from './flags.ts';
import { commandHelp, programHelp, settingDoc } from './help.ts';

/** A command with its flags and operands. */
export interface CommandInvocation {
  readonly kind: 'command';
  readonly command: Command;
  readonly flags: Flags;
  readonly operands: readonly string[];
}

/** What a command line asks for: a command, or text that was already all it wanted. */
export type Invocation = CommandInvocation | { readonly kind: 'text'; readonly text: string };

/** What the program is made of. */
export interface ProgramOptions {
  readonly commands: readonly Command[];
  /** Read only when asked for. */
  version(): string;
  /** Cells per line of help. */
  readonly width: number;
}

/**
 * Reads a command line.
 * @throws {UsageError} for anything that is not one, with the nearest name as a hint.
 */
export function parseCommandLine(argv: readonly string[], options: ProgramOptions): Invocation {
  let chosen: Invocation | undefined;
  let printed = '';
  const program = createProgram(options, (text) => {
    printed += text;
  });
  for (const command of options.commands) {
    const { group } = command;
    const parent = group === undefined ? program : groupOf(program, group);
    const sub = addCommand(parent, command, options.width);
    sub.action(() => {
      chosen = { kind: 'command', command, flags: flagsOf(sub), operands: sub.args };
    });
  }
  try {
    program.parse(argv, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return { kind: 'text', text: `${options.version()}\n` };
    if (error.exitCode === 0) return { kind: 'text', text: printed };
    throw usageErrorOf(error, argv, options.commands);
  }
  return chosen ?? { kind: 'text', text: printed };
}

function createProgram({ width }: ProgramOptions, write: (text: string) => void): Commander {
  return new Commander('daywalk')
    .description(programHelp.description)
    .version('', '-V, --version', 'print the version')
    .configureHelp({ subcommandTerm: (sub) => sub.name() })
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help', 'print the help of a command: daywalk help run')
    .exitOverride()
    .configureOutput({
      writeOut: write,
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => width,
    })
    .addHelpText('after', programHelp.after);
}

/** The group of that name, made when its first command is added. */
function groupOf(program: Commander, { name, summary }: CommandGroup): Commander {
  const known = program.commands.find((sub) => sub.name() === name);
  if (known !== undefined) return known;
  return program
    .command(name)
    .summary(summary)
    .description(`${summary}.`)
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help', `print the help of a command: daywalk ${name} help <command>`);
}

function addCommand(parent: Commander, command: Command, width: number): Commander {
  const word = command.name.split(' ').at(-1) ?? command.name;
  const sub = parent.command(word).summary(command.summary).description(command.description);
  sub.helpOption('-h, --help', 'print this help');
  for (const { syntax, doc } of command.operands ?? []) sub.argument(syntax, doc);
  sub.optionsGroup('Options:');
  for (const flag of command.flags) sub.addOption(optionOf(flag));
  for (const setting of command.uses) {
    if (setting.flag === null) continue;
    sub.addOption(
      new Option(`${setting.flag} <${setting.placeholder}>`, settingDoc(setting)).helpGroup('Settings:'),
    );
  }
  return sub.addHelpText('after', () => {
    const helper = sub.createHelp();
    helper.prepareContext({ helpWidth: width });
    return commandHelp(command, (term, termWidth, doc) => helper.formatItem(term, termWidth, doc, helper));
  });
}

function optionOf({ syntax, doc, required }: CommandFlag): Option {
  return new Option(syntax, doc).makeOptionMandatory(required === true);
}

function flagsOf(sub: Commander): Flags {
  const values = sub.options.map((option) => [option.long, sub.getOptionValue(option.attributeName())]);
  return createFlags(Object.fromEntries(values));
}

/** commander's errors in this program's words. What a flag was given stays unsaid: it may be a key. */
function usageErrorOf(
  error: CommanderError,
  argv: readonly string[],
  commands: readonly Command[],
): UsageError {
  const group = commands.find((command) => command.group?.name === argv[0])?.group?.name;
  if (error.code === 'commander.help') {
    return group === undefined
      ? new UsageError('no command was given', { hint: 'daywalk --help lists them' })
      : new UsageError(`no command was given after ${group}`, { hint: `daywalk ${group} --help lists them` });
  }
  const [first = '', suggestion] = error.message.replace(/^error: /, '').split('\n');
  const message = first.replace(/=.*'$/, "'");
  return new UsageError(message, { hint: hintFor(message, suggestion) ?? whereToLook(argv, commands) });
}

function hintFor(message: string, suggestion: string | undefined): string | undefined {
  if (/--(api-)?(key|token)\b/.test(message)) {
    return 'a key is never given on the command line; set DAYWALK_API_KEY or DAYWALK_API_KEY_FILE';
  }
  return suggestion?.replace(/^\(|\)$/g, '').replace(/^Did/, 'did');
}

function whereToLook(argv: readonly string[], commands: readonly Command[]): string {
  const [first = '', second = ''] = argv;
  const named = commands.find(({ name }) => name === first || name === `${first} ${second}`);
  if (named !== undefined) return `see daywalk ${named.name} --help`;
  if (commands.some(({ group }) => group?.name === first)) return `see daywalk ${first} --help`;
  return first.startsWith('-')
    ? 'flags come after the command: daywalk run --warehouse w.db'
    : 'daywalk --help lists the commands';
}
