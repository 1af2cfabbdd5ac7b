import type { CommandGroup } from '../../program/command.ts';

/** `daywalk people`. */
export const peopleGroup: CommandGroup = {
  name: 'people',
  summary: 'loads or lists who belongs to which team, and when',
};
