import { findMissingPeople } from '../../../../../jobs/people-missing.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { MISSING_COLUMNS, type MissingPeople, missingPerson } from '../../../../metrics/list-people.ts';
import { writeCsv } from '../../../../metrics/write-csv.ts';
import type { Action } from '../../../program/command.ts';
import { csvLines } from '../../../screens/csv-lines.ts';
import { notesOf, renderMissing } from './screen.ts';

export const act: Action = async ({ settings, job, flags, log, out }) => {
  const missing = await findMissingPeople(settings, { organization: flags.text('--organization') }, job);
  let isCsv = false;
  out.show(missing, (frame) => {
    isCsv = flags.isOn('--csv') || !frame.isTerminal;
    return isCsv ? csvLines(csvOf(missing), frame) : renderMissing(missing, frame);
  });
  if (isCsv) {
    for (const message of notesOf(missing)) log.write({ level: 'warn', event: 'people-note', message });
  }
  return EXIT.ok;
};

function csvOf({ users }: MissingPeople): string {
  return writeCsv(MISSING_COLUMNS, users.map(missingPerson));
}
