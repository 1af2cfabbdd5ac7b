import { truncateSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { required, textCell } from '../../../src/csv-files/csv-columns.ts';
import { readCsv } from '../../../src/csv-files/read-csv.ts';
import { tempFile } from '../../support/suite/temp-dir.ts';

const FORMAT = {
  columns: { user_id: required(textCell), team: required(textCell) },
  oneOf: ['user_id'],
} as const;

function fileOf(content: string | Uint8Array): string {
  const path = tempFile('people.csv');
  writeFileSync(path, content);
  return path;
}

it('a CSV file must exist, be UTF-8 and be small enough', async () => {
  const refused = (path: string) => expect(readCsv({ path, name: 'p.csv' }, FORMAT)).rejects;
  await refused('/nowhere/people.csv').toThrow(/^read p\.csv: ENOENT/);
  await refused(fileOf(Buffer.from('user_id,team\nu-1,M\u00fcller\n', 'latin1'))).toThrow('not UTF-8');
  await refused(fileOf(Buffer.from('\uFEFFuser_id,team\n', 'utf16le'))).toThrow('not UTF-8');
  const large = fileOf('');
  truncateSync(large, 64 * 1024 * 1024 + 1);
  await refused(large).toThrow('it has 67108865 bytes, more than 67108864');
});
