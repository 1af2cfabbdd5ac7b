import type { CommandGroup } from '../../program/command.ts';

/** `daywalk hooks`. */
export const hooksGroup: CommandGroup = {
  name: 'hooks',
  summary: "edits the client tool's hooks file, and stores received events",
};
