import { agentCommands } from './commands/agent.ts';
import { checkCommands } from './commands/checks.ts';
import { moneyCommands, peopleCommands } from './commands/csv-files.ts';
import { exportCommands } from './commands/export.ts';
import { gettingStartedCommands } from './commands/getting-started.ts';
import { publishCommands } from './commands/publish.ts';
import { warehouseCommands } from './commands/warehouse.ts';
import type { Command } from './program/command.ts';

/** Every command, in the order of help. */
export const commands: readonly Command[] = [
  ...exportCommands,
  ...checkCommands,
  ...peopleCommands,
  ...moneyCommands,
  ...warehouseCommands,
  ...publishCommands,
  ...gettingStartedCommands,
  ...agentCommands,
];
