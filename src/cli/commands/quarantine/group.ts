import type { CommandGroup } from '../../program/command.ts';

/** `daywalk quarantine`. */
export const quarantineGroup: CommandGroup = {
  name: 'quarantine',
  summary: 'lists or accepts records that could not be stored',
};
