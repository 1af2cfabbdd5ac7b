import type { CommandGroup } from '../../program/command.ts';

/** `daywalk quarantine`. */
export const quarantineGroup: CommandGroup = {
  name: 'quarantine',
  summary: 'records that could not be stored: list them, accept them',
};
