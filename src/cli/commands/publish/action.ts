import { resolve } from 'node:path';
import { type PublishRequest, publish } from '../../../../jobs/publish.ts';
import type { AnyTable } from '../../../../schema/define.ts';
import { allTables } from '../../../../schema/tables.ts';
import { UsageError } from '../../../core/errors.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { CommandContext } from '../../program/command.ts';
import { renderPublished } from './screen.ts';

/** Reads the flags of `daywalk publish`, publishes, and prints what was done. */
export async function performPublish(context: CommandContext): Promise<void> {
  const { flags, settings, job, out } = context;
  const report = await publish(settings, requestOf(flags, context.directory), job);
  if (flags.isOn('--json')) out.json(report);
  else out.print(renderPublished(report, { width: out.terminal.columns(), style: out.terminal.style }));
}

function requestOf(flags: Flags, directory: string): PublishRequest {
  const place = (text: string) => placeOf(text, directory);
  const parquet = flags.parse('--parquet', place);
  const sqlite = flags.parse('--sqlite', place);
  const tables = flags.parse('--tables', tablesOf);
  if (parquet === undefined && sqlite === undefined) {
    throw new UsageError('nothing says where to publish to', {
      hint: 'give --parquet DIR for a lake, --sqlite FILE for a copy, or both',
    });
  }
  if (parquet === undefined && (tables !== undefined || flags.isOn('--force'))) {
    throw new UsageError('--tables and --force are about Parquet files; --sqlite always writes everything', {
      hint: 'give --parquet DIR too, or leave them out',
    });
  }
  return {
    ...(parquet === undefined
      ? {}
      : { parquet: { directory: parquet, tables: tables ?? allTables, force: flags.isOn('--force') } }),
    ...(sqlite === undefined ? {} : { sqlite }),
  };
}

function placeOf(text: string, directory: string): string {
  if (text === '') throw new UsageError('it is empty', { hint: 'name a path' });
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) {
    throw new UsageError('it is a URL, and files are published to paths only', {
      hint: 'publish to a folder, and synchronize that with the tool of the object store',
    });
  }
  return resolve(directory, text);
}

function tablesOf(list: string): AnyTable[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !allTables.some((table) => table.name === name));
  if (unknown === undefined) return allTables.filter(({ name }) => names.includes(name));
  throw new UsageError(`"${unknown}" is not a table`, { hint: 'daywalk schema lists the tables' });
}
