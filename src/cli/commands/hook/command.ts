import { SETTINGS } from '../../../settings/settings-table.ts';
import { notifySettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk hook`, for help: `main.ts` hands its calls to the receiver before any command is loaded. */
export const hook: Command = {
  name: 'hook',
  summary: 'receives one hook event on standard input; always exits with 0',
  description:
    'What the client tool runs on its hook events: takes one JSON object on standard input, stores it durably in the ' +
    'spool, and notifies where that is switched on. It opens no warehouse, never waits long, and always exits with ' +
    '0; what cannot be stored is told in one line on standard error. daywalk run and daywalk hooks drain move the ' +
    'events into the table hook_events. It takes notifications from flags and the environment, never from .env.',
  uses: [SETTINGS.warehouse, SETTINGS.spool, ...notifySettings, SETTINGS.now],
  flags: [],
  examples: [
    {
      line: 'daywalk hook --spool /var/lib/daywalk/daywalk.db.spool',
      does: 'what daywalk hooks install writes',
    },
    {
      line: 'cat event.json | daywalk hook --notify desktop,bell',
      does: 'stores an event, shows it and rings',
    },
  ],
  resultIsOutput: false,
  act: () => {
    throw new Error('daywalk hook went through the command line instead of its own entry');
  },
};
