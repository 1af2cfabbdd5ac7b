import { warehouseSettings } from '../../arguments/setting-groups.ts';
import { type Command, jsonFlag } from '../../program/command.ts';

/** `daywalk publish`: the warehouse as files for other tools. */
export const publish: Command = {
  name: 'publish',
  summary: 'Parquet files for a data lake, or a SQLite copy for BI tools',
  description:
    'Writes the tables as Parquet files, one per table, organization and month, or the whole warehouse as one SQLite ' +
    'file, or both. Parquet files that have not changed since the last publish are not written again. Each file is ' +
    'replaced atomically: readers see the old file or the new one. It may run during a run. Give --parquet, --sqlite or both.',
  uses: warehouseSettings,
  flags: {
    '--parquet <dir>': 'folder for the Parquet files; created if it does not exist',
    '--tables <names>': 'only these tables, separated by commas (default: all)',
    '--force': 'write every Parquet file again, even if it has not changed',
    '--sqlite <file>': 'path of the SQLite copy; an earlier copy is replaced',
    ...jsonFlag,
  },
  examples: {
    'daywalk publish --parquet lake': 'Parquet files in the folder lake; only what has changed is written',
    'daywalk publish --sqlite /srv/bi/daywalk.db': 'a copy for BI tools on a file share',
  },
  resultIsOutput: false,
  load: () => import('./action.ts'),
};
