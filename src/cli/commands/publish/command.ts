import { EXIT } from '../../../core/exit-code.ts';
import { warehouseSettings } from '../../arguments/setting-groups.ts';
import type { Command } from '../../program/command.ts';

/** `daywalk publish`: the warehouse for those who read it elsewhere. */
export const publish: Command = {
  name: 'publish',
  summary: 'Parquet files for a lake, or a SQLite copy for BI readers',
  description:
    'Writes the tables as Parquet files, one per table, organization and month, and of those only the ones that have ' +
    'changed since the last time; or a copy of the whole warehouse as one SQLite file; or both. Each file is replaced ' +
    'at once, so that readers see the old one or the new one. It may run beside a run. Give --parquet, --sqlite or both.',
  uses: warehouseSettings,
  flags: [
    { syntax: '--parquet <dir>', doc: 'folder of the Parquet files; made where it is missing' },
    { syntax: '--tables <names>', doc: 'these tables alone, separated by commas (default: all)' },
    { syntax: '--force', doc: 'write every Parquet file again, changed or not' },
    { syntax: '--sqlite <file>', doc: 'path of the copy; one that was published before is replaced' },
    { syntax: '--json', doc: 'print the report as one JSON document' },
  ],
  examples: [
    { line: 'daywalk publish --parquet lake', does: 'what has changed, as Parquet files in the folder lake' },
    { line: 'daywalk publish --sqlite /srv/bi/daywalk.db', does: 'a copy for BI tools that read a share' },
  ],
  resultIsOutput: false,
  act: async (context) => {
    const { performPublish } = await import('./action.ts');
    await performPublish(context);
    return EXIT.ok;
  },
};
