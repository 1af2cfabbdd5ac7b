import { Command as Commander, CommanderError, Option } from 'commander';
import { nearestName, UsageError } from '../../core/errors.ts';
import { explainExitCode, PRECEDENCE } from '../../core/exit-code.ts';
import { isStream } from '../../core/stream.ts';
import type { Setting } from '../../settings/index.ts';
import { type Command, type CommandGroup, createFlags, describedFlags, type Flags } from './command.ts';
import { NoCommandError } from './failure.ts';

/** A command with its flags and operands. */
export interface CommandInvocation {
  readonly kind: 'command';
  readonly command: Command;
  readonly flags: Flags;
  readonly operands: readonly string[];
}

/** The meaning of a command line: a command to perform, or a text to print, such as help. */
type Invocation = CommandInvocation | { readonly kind: 'text'; readonly text: string };

/** The commands to recognize, and how to print help. */
interface ProgramOptions {
  readonly commands: readonly Command[];
  /** Called only for `--version`. */
  version(): string;
  /** Cells per line of help. */
  readonly width: number;
}

/**
 * Parses a command line.
 * @throws {UsageError} for an invalid one, with the most similar name as a hint.
 */
export function parseCommandLine(argv: readonly string[], options: ProgramOptions): Invocation {
  let chosen: Invocation | undefined;
  let printed = '';
  const program = createProgram(options, (text) => {
    printed += text;
  });
  const words = withoutHelpCommand(argv, options.commands);
  for (const command of options.commands) {
    const { group } = command;
    const parent = group === undefined ? program : groupOf(program, group);
    const sub = addCommand(parent, command);
    // Creating the flags of all commands takes as long as the rest of the parser.
    if (!words.includes(group?.name ?? command.name)) continue;
    addFlags(sub, command, options.width);
    sub.action(() => {
      chosen = { kind: 'command', command, flags: flagsOf(sub), operands: sub.args };
    });
  }
  try {
    program.parse(words, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === 'commander.version') return { kind: 'text', text: `${options.version()}\n` };
    if (error.exitCode === 0) return { kind: 'text', text: printed };
    const group = options.commands.find((command) => command.group?.name === argv[0])?.group?.name;
    if (error.code === 'commander.help') throw noCommand(program, group);
    throw usageErrorOf(error, argv, options.commands);
  }
  return chosen ?? { kind: 'text', text: printed };
}

/** Words that people type instead of `--version`. */
const VERSION_WORDS = ['version', '-v'];

/**
 * Rewrites `help run` to `run --help`, and words such as `version` to `--version`.
 * @throws {UsageError} for help about an unknown command.
 */
function withoutHelpCommand(argv: readonly string[], commands: readonly Command[]): readonly string[] {
  const [first = '', second] = argv;
  if (VERSION_WORDS.includes(first)) return ['--version'];
  const isGroup = commands.some(({ group }) => group?.name === first);
  if (first !== 'help' && !(isGroup && second === 'help')) return argv;
  const words = argv.filter((word, index) => index !== (isGroup ? 1 : 0) && !word.startsWith('-'));
  const name = words.join(' ') === 'help' ? '' : words.join(' ');
  const known = commands.flatMap((command) => [command.name, command.group?.name ?? '']);
  if (name === '' || known.includes(name)) return [...(name === '' ? [] : words), '--help'];
  // Only the last word is compared: a correct first word would make every command of the group look similar.
  const last = words.at(-1) ?? '';
  const prefix = name.slice(0, name.length - last.length);
  const siblings = known.flatMap((one) => (one.startsWith(prefix) ? [one.slice(prefix.length)] : []));
  const near = nearestName(last, siblings);
  throw new UsageError(`unknown command '${name}'`, {
    hint: near === undefined ? 'daywalk --help lists the commands' : `did you mean ${prefix}${near}?`,
  });
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

/** Finds a group of commands, or adds it with its first command. */
function groupOf(program: Commander, { name, summary }: CommandGroup): Commander {
  const known = program.commands.find((sub) => sub.name() === name);
  if (known !== undefined) return known;
  return program
    .command(name)
    .summary(summary)
    .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
    .helpOption('-h, --help', 'print this help')
    .helpCommand('help', `print the help of a command: daywalk ${name} help <command>`);
}

function addCommand(parent: Commander, { name, summary, description }: Command): Commander {
  const word = name.split(' ').at(-1) ?? name;
  return parent.command(word).summary(summary).description(description);
}

function addFlags(sub: Commander, command: Command, width: number): void {
  sub.helpOption('-h, --help', 'print this help');
  for (const [syntax, doc] of Object.entries(command.operands ?? {})) sub.argument(syntax, doc);
  sub.optionsGroup('Options:');
  for (const { syntax, doc, isRequired } of describedFlags(command))
    sub.addOption(new Option(syntax, doc).makeOptionMandatory(isRequired));
  for (const setting of command.uses) {
    // Commands that listen share the flag; config has all their settings, and one value is for all of them.
    if (setting.flag === null || sub.options.some(({ long }) => long === setting.flag)) continue;
    const option = new Option(`${setting.flag} <${setting.placeholder}>`, settingDoc(setting));
    if (setting.isRepeatable === true) option.argParser(joined);
    sub.addOption(option.helpGroup('Settings:'));
  }
  sub.addHelpText('after', () => {
    const helper = sub.createHelp();
    helper.prepareContext({ helpWidth: width });
    return commandHelp(command, (term, termWidth, doc) => helper.formatItem(term, termWidth, doc, helper));
  });
}

/** Adds a value to the earlier ones of a flag. */
function joined(value: string, earlier: unknown): string {
  return typeof earlier === 'string' ? `${earlier},${value}` : value;
}

function flagsOf(sub: Commander): Flags {
  const values = sub.options.map((option) => [option.long, sub.getOptionValue(option.attributeName())]);
  return createFlags(Object.fromEntries(values));
}

/** Turns an error of commander into a usage error. Leaves out the values of flags and surplus arguments: one may be a key. */
function usageErrorOf(
  error: CommanderError,
  argv: readonly string[],
  commands: readonly Command[],
): UsageError {
  const isSurplus = error.code === 'commander.excessArguments';
  const told = isSurplus ? error.message.replace(/( but got \d+): .*$/s, '$1.') : error.message;
  const [first = '', suggestion] = told.replace(/^error: /, '').split('\n');
  const message = first.replace(/=.*'$/, "'");
  const hint = isSurplus ? hintForSpaces(argv) : undefined;
  return new UsageError(message, {
    hint: hint ?? hintFor(message, suggestion) ?? whereToLook(argv, commands),
  });
}

function noCommand(program: Commander, group: string | undefined): NoCommandError {
  const named = program.commands.find((sub) => sub.name() === group) ?? program;
  const help = named.helpInformation();
  return group === undefined
    ? new NoCommandError('no command was given', { hint: 'daywalk --help lists them', help })
    : new NoCommandError(`no command was given after ${group}`, {
        hint: `daywalk ${group} --help lists them`,
        help,
      });
}

/** A hint for a list with spaces. The parser takes its second part for an argument. */
function hintForSpaces(argv: readonly string[]): string | undefined {
  const start = argv.indexOf('--streams') + 1;
  const end = argv.findIndex((argument, index) => index > start && argument.startsWith('-'));
  const names = argv
    .slice(start, end < 0 ? undefined : end)
    .flatMap((part) => part.split(','))
    .filter((name) => name !== '');
  if (start > 0 && names.length > 1 && names.every(isStream))
    return `a list has no spaces: --streams ${names.join(',')}`;
  // Unknown values are not repeated: one may be a secret.
  return argv.some((argument) => argument.endsWith(',') || argument.startsWith(','))
    ? 'a list has no spaces: remove the space beside the comma'
    : undefined;
}

function hintFor(message: string, suggestion: string | undefined): string | undefined {
  if (/--(api-)?(key|token)\b/.test(message)) {
    return 'keys are not accepted on the command line; set DAYWALK_API_KEY or DAYWALK_API_KEY_FILE';
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

/** The text before and after the list of commands. */
const programHelp = {
  description:
    "Exports an agent platform's daily analytics and readiness reports into SQL tables. Each day is stored whole or " +
    'not at all. An interrupted run is resumed by the next one, and repeated runs give the same result.',
  after: `
Start here:
  $ daywalk demo      a complete export, without an API key
  $ daywalk run       the nightly job
  $ daywalk status    what the warehouse holds, and what it lacks

Exit codes:
${exitCodes()}`,
};

function exitCodes(): string {
  const codes = PRECEDENCE.toSorted((a, b) => a - b);
  return codes.map((code) => `${String(code).padStart(4)}  ${explainExitCode(code)}`).join('\n');
}

/** The description of a setting, with its default. */
function settingDoc({ doc, fallbackText }: Setting): string {
  return fallbackText === null ? doc : `${doc} (default: ${fallbackText})`;
}

/** Formats a term and its description as aligned lines that fit the width. */
type FormatItem = (term: string, termWidth: number, doc: string) => string;

/** The sections of a command's help after its flags: environment and examples. */
function commandHelp({ uses, examples }: Command, formatItem: FormatItem): string {
  const shown = Object.entries(examples).map(([line, does]) => `  $ ${line}\n      ${does}`);
  return `\n${environmentHelp(uses, formatItem)}\nExamples:\n${shown.join('\n')}`;
}

function environmentHelp(uses: readonly Setting[], formatItem: FormatItem): string {
  const width = Math.max(...uses.map((setting) => setting.env.length));
  const lines = uses.map((setting) =>
    formatItem(setting.env, width, setting.flag === null ? settingDoc(setting) : `same as ${setting.flag}`),
  );
  return `Environment (flags override it, and it overrides .env in the working directory):\n${lines.join('\n')}\n`;
}
