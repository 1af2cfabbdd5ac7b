import { SETTINGS } from '../../../settings/settings-table.ts';
import { notifySettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk hook`, for help only: `main.ts` starts the receiver before any command is loaded. */
export const hook: Command = {
  name: 'hook',
  summary: 'receives one hook event on standard input; always exits with 0',
  description:
    'The client tool runs this command for its hook events. It reads one JSON object from standard input, stores it ' +
    'durably in the spool, and sends a notification if that is switched on. It opens no warehouse, never waits long, and ' +
    'always exits with code 0; an event that cannot be stored is reported in one line on standard error. daywalk run ' +
    'and daywalk hooks drain move the events into the table hook_events. Notification settings come from flags and the ' +
    'environment, never from .env.',
  uses: [SETTINGS.warehouse, SETTINGS.spool, ...notifySettings, SETTINGS.now],
  flags: {},
  examples: {
    'daywalk hook --spool /var/lib/daywalk/daywalk.db.spool': 'the command that daywalk hooks install writes',
    'cat event.json | daywalk hook --notify desktop,bell':
      'stores an event, shows a desktop notification and rings the bell',
  },
  resultIsOutput: false,
  load: () => {
    throw new Error('daywalk hook must be started by its own entry point');
  },
};
