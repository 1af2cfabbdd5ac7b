import type { CommandGroup } from '../../program/command.ts';

/** `daywalk budget`. */
export const budgetGroup: CommandGroup = {
  name: 'budget',
  summary: 'loads, lists or checks the budget of each team and month',
};
