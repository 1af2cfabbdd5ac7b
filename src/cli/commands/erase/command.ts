import { eraseSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk erase`: removes one person, or an organization, from everything that Daywalk stores. */
export const erase: Command = {
  name: 'erase',
  summary: 'erases a person, or an organization, from the warehouse, the archive and the spool',
  description:
    'Replaces the user ID of a person and every email address that was ever seen with it by pseudonyms: in all tables, in the ' +
    'archive and in the spool. Totals stay exact. The person does not come back with a later run, replay, copy, load of people ' +
    'or hook event. With --organization alone, everything of that organization is removed, and runs for it are refused. An ' +
    'erasure cannot be taken back. After an interruption, the same command resumes. Backups, and places that the warehouse ' +
    'was copied or published to, are not changed; the certificate names those places that are known.',
  uses: eraseSettings,
  flags: {
    '--user <id>': 'the user ID of the person',
    '--email <address>': 'an email address of the person, if the user ID is not known',
    '--organization <name>':
      'the organization of the person, by its ID or its name (default: the only one); without a person, the organization to remove',
    '--dry-run': 'count what would change; change nothing',
    '--drop-damaged':
      'remove archived rows that cannot be read: they may hold the person; without it, they end the command',
    '--certificate <file>': 'write the certificate to this new file; it contains no personal data',
    '--wait': 'wait for a run to end instead of exiting with code 75',
    ...jsonFlag,
  },
  examples: {
    'daywalk erase --user user_123 --dry-run': 'what would change',
    'daywalk erase --email ada@example.com --certificate erased.json':
      'erase this person, and keep the evidence',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
