import type { CommandFlags } from '../program/command.ts';

/** The flag of commands that are about one organization. */
export const organizationFlag: CommandFlags = {
  '--organization <name>':
    'the organization, by its ID or its name in the organizations file (default: the only one in the warehouse)',
};
