import type { CommandFlag } from '../../program/command.ts';

/** The hooks file that a command reads or edits. */
export const fileFlag: CommandFlag = { syntax: '--file <path>', doc: 'the hooks file', required: true };
