import type { CommandGroup } from '../../program/command.ts';

/** `daywalk archive`. */
export const archiveGroup: CommandGroup = {
  name: 'archive',
  summary: 'checks, shows or thins out the archive of answers',
};
