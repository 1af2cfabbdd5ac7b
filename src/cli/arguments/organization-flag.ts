import type { CommandFlags } from '../program/command.ts';

/** The flag of commands that are about one organization. */
export const organizationFlag: CommandFlags = {
  '--organization <id>': 'the organization (default: the only one in the warehouse)',
};
