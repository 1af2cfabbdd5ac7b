import type { CommandGroup } from '../../program/command.ts';

/** `daywalk prices`. */
export const pricesGroup: CommandGroup = {
  name: 'prices',
  summary: 'loads or lists what a million billable tokens cost, and when',
};
