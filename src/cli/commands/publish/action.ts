import { resolve } from 'node:path';
import { type PublishRequest, publish } from '../../../../jobs/publish.ts';
import type { AnyTable } from '../../../../schema/define.ts';
import { publishedTables } from '../../../../schema/tables.ts';
import { UsageError } from '../../../core/errors.ts';
import { EXIT } from '../../../core/exit-code.ts';
import type { Flags } from '../../arguments/flags.ts';
import type { Action } from '../../program/command.ts';
import { renderPublished } from './screen.ts';

export const act: Action = async ({ flags, settings, job, out, directory }) => {
  const report = await publish(settings, requestOf(flags, directory), job);
  out.show(report, (frame) => renderPublished(report, frame));
  return EXIT.ok;
};

function requestOf(flags: Flags, directory: string): PublishRequest {
  const place = (text: string) => placeOf(text, directory);
  const parquet = flags.parse('--parquet', place);
  const sqlite = flags.parse('--sqlite', place);
  const tables = flags.parse('--tables', tablesOf);
  if (parquet === undefined && sqlite === undefined) {
    throw new UsageError('neither --parquet nor --sqlite is given', {
      hint: 'give --parquet DIR for Parquet files, --sqlite FILE for a copy, or both',
    });
  }
  if (parquet === undefined && (tables !== undefined || flags.isOn('--force'))) {
    throw new UsageError(
      '--tables and --force only apply to Parquet files; --sqlite always writes everything',
      {
        hint: 'add --parquet DIR, or omit them',
      },
    );
  }
  return {
    ...(parquet === undefined
      ? {}
      : { parquet: { directory: parquet, tables: tables ?? publishedTables, force: flags.isOn('--force') } }),
    ...(sqlite === undefined ? {} : { sqlite }),
  };
}

function placeOf(text: string, directory: string): string {
  if (text === '') throw new UsageError('the path is empty', { hint: 'name a path' });
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(text)) {
    throw new UsageError('URLs are not supported', {
      hint: 'publish to a folder, and upload it with the tool of the object store',
    });
  }
  return resolve(directory, text);
}

function tablesOf(list: string): AnyTable[] {
  const names = list.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !publishedTables.some((table) => table.name === name));
  if (unknown === undefined) return publishedTables.filter(({ name }) => names.includes(name));
  throw new UsageError(`"${unknown}" is not a table`, { hint: 'daywalk schema lists the tables' });
}
