import { listPeople } from '../../../../../jobs/people-list.ts';
import { EXIT } from '../../../../core/exit-code.ts';
import { type ListedPerson, type PeopleList, writtenPerson } from '../../../../metrics/list-people.ts';
import { PEOPLE_COLUMNS } from '../../../../metrics/people-file.ts';
import { writeCsv } from '../../../../metrics/write-csv.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import type { Action } from '../../../program/command.ts';
import { csvLines } from '../../../screens/csv-lines.ts';
import { renderTable, right, shrinking } from '../../../text/table.ts';

const COLUMNS = [
  shrinking('person'),
  shrinking('team'),
  'from',
  'to',
  shrinking('name'),
  shrinking('department'),
  shrinking('cost center'),
  right('users'),
];

export const act: Action = async ({ settings, job, flags, out }) => {
  const list = await listPeople(settings, { organization: flags.text('--organization') }, job);
  const csv = () => writeCsv(PEOPLE_COLUMNS, list.people.map(writtenPerson));
  out.show(list, (frame) => (flags.isOn('--csv') ? csvLines(csv(), frame) : renderList(list, frame)));
  return EXIT.ok;
};

function renderList({ people }: PeopleList, frame: ScreenFrame): string[] {
  if (people.length === 0)
    return ['no people are loaded; daywalk people missing lists the users to begin with'];
  return renderTable(
    COLUMNS,
    people.map((person) => rowOf(person, frame)),
    frame,
  );
}

function rowOf(row: ListedPerson, { redact }: ScreenFrame) {
  const shown = (text: string | null) => (text === null ? null : redact(text));
  return [
    redact(row.person),
    shown(row.team),
    row.valid_from,
    row.valid_to,
    shown(row.name),
    shown(row.department),
    shown(row.cost_center),
    row.users,
  ];
}
