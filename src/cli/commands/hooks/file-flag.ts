import type { CommandFlags } from '../../program/command.ts';

/** The hooks file that a command reads or edits; required. */
export const fileFlag: CommandFlags = { '--file <path>': 'the hooks file' };
