import { warehouseSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk copy`: the whole warehouse, into another database. */
export const copy: Command = {
  name: 'copy',
  summary: 'copies the warehouse with its ledger into another database',
  description:
    'Copies every table of the warehouse, including the ledger, between SQLite and PostgreSQL in either direction. Each ' +
    'day is copied whole. After an interruption, the next copy resumes; a repeated copy writes only what has changed. At ' +
    'the end, the digests of all tables are compared: exit code 5 if they differ. Runs may write to the source ' +
    'meanwhile, but not to the destination. Data that only the destination has is never lost without --replace.',
  uses: warehouseSettings,
  flags: {
    '--to <location>': 'the destination: a SQLite path, or postgres://…; created if it does not exist',
    '--replace': 'compare every row, and delete from the destination what the source does not have',
    '--wait': 'wait for a run on the destination to end instead of exiting with code 75',
    ...jsonFlag,
  },
  required: ['--to'],
  mayHoldPassword: ['--to'],
  examples: {
    'daywalk copy --warehouse daywalk.db --to postgres://daywalk@db.example.com/analytics':
      'from SQLite to PostgreSQL; the password comes from PGPASSWORD or ~/.pgpass',
    'daywalk copy --warehouse postgres://daywalk@db.example.com/analytics --to daywalk.db': 'and back',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
