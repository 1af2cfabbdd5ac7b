import type { Move, PeopleLoad } from '../../../../metrics/load-people.ts';
import type { ScreenFrame } from '../../../output/output.ts';
import { type Field, renderFields } from '../../../screens/fields.ts';
import { renderListing } from '../../../screens/listing.ts';
import { counted, formatNumber } from '../../../text/quantity.ts';
import { shrinking } from '../../../text/table.ts';
import { wrapText } from '../../../text/wrap.ts';

const MOVES_SHOWN_MAX = 20;
const COLUMNS = [shrinking('person'), shrinking('from team'), shrinking('to team'), 'from', 'to'];

/** Draws what a load has changed, and how the people fit the users. */
export function renderLoad(load: PeopleLoad, frame: ScreenFrame): string[] {
  const { style } = frame;
  const moves = renderListing(
    { columns: COLUMNS, items: load.moves, row: (move) => rowOf(move, frame), shownMax: MOVES_SHOWN_MAX },
    { ...frame, indent: 2 },
  );
  return [
    style.green(headline(load)),
    '',
    ...renderFields(fieldsOf(load), frame),
    ...(moves.length === 0 ? [] : ['', 'Moves', ...moves]),
    ...warningsOf(load).flatMap((warning) => [
      '',
      ...wrapText(warning, { width: frame.width, lead: '', linesMax: 3 }).map(style.yellow),
    ]),
  ];
}

function headline(load: PeopleLoad): string {
  const people = counted(load.people, 'person', 'people');
  if (load.added + load.removed + load.moved + load.changed === 0) {
    return `people: nothing to do; stored already: ${people}`;
  }
  return load.dry_run
    ? `people: dry run, nothing is stored; ${people} in the file`
    : `people: ${people} stored`;
}

function fieldsOf(load: PeopleLoad): Field[] {
  const { added, removed, moved, changed, unchanged, users, users_with_person } = load;
  return [
    ['added', added],
    ['removed', removed],
    ['moved between teams', moved],
    ['changed otherwise', changed],
    ['unchanged', unchanged],
    ['users found', `${formatNumber(users_with_person)} of ${counted(users, 'user')} with activity so far`],
    ['seats without activity', load.people_without_user],
  ];
}

function rowOf({ person, from_team, to_team, valid_from, valid_to }: Move, { redact }: ScreenFrame) {
  const shown = (text: string | null) => (text === null ? null : redact(text));
  return [redact(person), shown(from_team), shown(to_team), valid_from, valid_to];
}

function warningsOf(load: PeopleLoad): string[] {
  const warnings: string[] = [];
  if (load.people_without_team > 0) {
    warnings.push(
      `${counted(load.people_without_team, 'person has', 'people have')} no team; they count as unassigned.`,
    );
  }
  if (load.people > 0 && load.users > 0 && load.users_with_person === 0) {
    warnings.push(
      'No user is one of these people. Check that DAYWALK_EMAILS is the same as for daywalk run.',
    );
  }
  return warnings;
}
