import type { CommandGroup } from '../../program/command.ts';

/** `daywalk hooks`. */
export const hooksGroup: CommandGroup = {
  name: 'hooks',
  summary: "the client tool's hooks file, and the events that were received",
};
