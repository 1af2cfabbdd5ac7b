import type { CommandGroup } from '../command.ts';

/** `daywalk quarantine`. */
export const quarantineGroup: CommandGroup = {
  name: 'quarantine',
  summary: 'records that could not be stored: list them, accept them',
};
