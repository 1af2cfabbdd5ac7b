import { commands } from '../src/cli/commands.ts';
import { type Command, describedFlags } from '../src/cli/program/command.ts';
import type { SettingGroup } from '../src/settings/setting.ts';

const INTRODUCTION = `# Commands

This page is generated from the declarations of the commands by \`npm run docs\`; \`daywalk COMMAND --help\` prints the same.
Results go to standard output; progress and logs go to standard error. [operations.md](operations.md#exit-codes) lists the
exit codes, and [settings.md](settings.md) describes the settings that a command reads.
`;

/** Settings that every command reads, which the page does not repeat for each. */
const COMMON: ReadonlySet<SettingGroup> = new Set(['clock', 'log']);

/** Every command with its flags, settings and examples, as a page of Markdown. */
export function commandsPage(): string {
  return [INTRODUCTION, contentsOf(commands), ...commands.map(sectionOf)].join('\n');
}

function contentsOf(listed: readonly Command[]): string {
  const rows = listed.map(
    ({ name, summary }) =>
      `| [\`daywalk ${name}\`](#daywalk-${name.replaceAll(' ', '-')}) | ${cell(summary)} |`,
  );
  return ['| command | |', '|---|---|', ...rows, ''].join('\n');
}

function sectionOf(command: Command): string {
  const { name, description, operands = {}, uses, examples } = command;
  const flags = describedFlags(command).map(({ syntax, doc }) => [syntax, doc] as const);
  const parameters = [...Object.entries<string>(operands), ...flags].map(
    ([syntax, doc]) => `| \`${syntax}\` | ${cell(doc)} |`,
  );
  const settings = uses.filter(({ group }) => !COMMON.has(group)).map(({ env }) => `\`${env}\``);
  const lines = Object.entries(examples).map(([line, does]) => `# ${does}\n${line}`);
  return [
    `## daywalk ${name}\n`,
    `${description}\n`,
    ...(parameters.length === 0 ? [] : ['| flag | |', '|---|---|', ...parameters, '']),
    ...(settings.length === 0 ? [] : [`Settings: ${settings.join(', ')}.\n`]),
    `\`\`\`sh\n${lines.join('\n\n')}\n\`\`\`\n`,
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
