import { findMissingPeople, listPeople, loadPeople } from '../../../jobs/people.ts';
import { EXIT } from '../../core/exit-code.ts';
import {
  type ListedPerson,
  MISSING_COLUMNS,
  type MissingPeople,
  type MissingUser,
  missingPerson,
  type PeopleList,
  writtenPerson,
} from '../../metrics/list-people.ts';
import type { Move, PeopleLoad } from '../../metrics/load-people.ts';
import { PEOPLE_COLUMNS } from '../../metrics/people-file.ts';
import { writeCsv } from '../../metrics/write-csv.ts';
import { OPEN_END, type PeopleConflict } from '../../warehouse/rollups/resolve-people.ts';
import { csvLines, type ScreenFrame } from '../output/output.ts';
import { type Action, loadRequestOf } from '../program/command.ts';
import { counted, formatNumber } from '../screens/numbers.ts';
import { type Field, renderFields, renderListing, renderTable, right, shrinking } from '../screens/table.ts';
import { wrapText } from '../screens/text.ts';

export const loadAction: Action = async (context) => {
  const { settings, job, out } = context;
  const load = await loadPeople(settings, loadRequestOf(context), job);
  out.show(load, (frame) => renderLoad(load, frame));
  return EXIT.ok;
};

const MOVES_SHOWN_MAX = 20;
const MOVE_COLUMNS = [shrinking('person'), shrinking('from team'), shrinking('to team'), 'from', 'to'];

/** Draws what a load has changed, and how the people fit the users. */
export function renderLoad(load: PeopleLoad, frame: ScreenFrame): string[] {
  const { style } = frame;
  const moves = renderListing(
    {
      columns: MOVE_COLUMNS,
      items: load.moves,
      row: (move) => moveRow(move, frame),
      shownMax: MOVES_SHOWN_MAX,
    },
    { ...frame, indent: 2 },
  );
  return [
    style.green(loadHeadline(load)),
    '',
    ...renderFields(loadFields(load), frame),
    ...(moves.length === 0 ? [] : ['', 'Moves', ...moves]),
    ...loadWarnings(load).flatMap((warning) => [
      '',
      ...wrapText(warning, { width: frame.width, lead: '', linesMax: 3 }).map(style.yellow),
    ]),
  ];
}

function loadHeadline(load: PeopleLoad): string {
  const people = counted(load.people, 'person', 'people');
  if (load.added + load.removed + load.moved + load.changed === 0) {
    return `people: nothing to do; stored already: ${people}`;
  }
  return load.dry_run
    ? `people: dry run, nothing is stored; ${people} in the file`
    : `people: ${people} stored`;
}

function loadFields(load: PeopleLoad): Field[] {
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

function moveRow({ person, from_team, to_team, valid_from, valid_to }: Move, { redact }: ScreenFrame) {
  const shown = (text: string | null) => (text === null ? null : redact(text));
  return [redact(person), shown(from_team), shown(to_team), valid_from, valid_to];
}

function loadWarnings(load: PeopleLoad): string[] {
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

export const missingAction: Action = async ({ settings, job, flags, log, out }) => {
  const missing = await findMissingPeople(settings, { organization: flags.text('--organization') }, job);
  let isCsv = false;
  out.show(missing, (frame) => {
    isCsv = flags.isOn('--csv') || !frame.isTerminal;
    return isCsv ? csvLines(missingCsv(missing), frame) : renderMissing(missing, frame);
  });
  if (isCsv) {
    for (const message of notesOf(missing)) log.write({ level: 'warn', event: 'people-note', message });
  }
  return EXIT.ok;
};

function missingCsv({ users }: MissingPeople): string {
  return writeCsv(MISSING_COLUMNS, users.map(missingPerson));
}

const USERS_SHOWN_MAX = 50;
const USER_COLUMNS = [shrinking('user'), shrinking('email'), 'last active', shrinking('person without team')];
const CONFLICT_COLUMNS = [shrinking('user'), 'from', 'to', shrinking('used'), shrinking('not used')];

/** Draws the users without a team, then the users who are several people, then how many people have no activity. */
export function renderMissing(missing: MissingPeople, frame: ScreenFrame): string[] {
  const users = renderListing(
    {
      columns: USER_COLUMNS,
      items: missing.users,
      row: (user) => userRow(user, frame),
      shownMax: USERS_SHOWN_MAX,
    },
    frame,
  );
  const conflicts = renderListing(
    {
      columns: CONFLICT_COLUMNS,
      items: missing.conflicts,
      row: (conflict) => conflictRow(conflict, frame),
      shownMax: USERS_SHOWN_MAX,
    },
    frame,
  );
  return [
    ...(users.length === 0 ? ['every active user has a team'] : users),
    ...(conflicts.length === 0 ? [] : ['', ...conflicts]),
    ...notesOf(missing).flatMap((note) => [
      '',
      ...wrapText(note, { width: frame.width, lead: '', linesMax: 3 }),
    ]),
  ];
}

/** What else is to be completed or corrected, one sentence each. */
export function notesOf({ users, conflicts, people_without_user }: MissingPeople): string[] {
  const known = users.filter(({ person }) => person !== null).length;
  const doubled = new Set(conflicts.map(({ user_id }) => user_id)).size;
  return [
    ...(known === 0
      ? []
      : [
          `${counted(known, 'of these users is', 'of these users are')} loaded already, without a team: fill in the team in that line instead of adding one`,
        ]),
    ...(doubled === 0
      ? []
      : [
          `${counted(doubled, 'user is', 'users are')} several people on one day, of which one is used; daywalk people missing --json lists them`,
        ]),
    ...(people_without_user.length === 0
      ? []
      : [
          `${counted(people_without_user.length, 'person has', 'people have')} a seat but no activity so far`,
        ]),
  ];
}

function userRow({ user_id, user_email, last_active_on, person }: MissingUser, { redact }: ScreenFrame) {
  const shown = (text: string | null) => (text === null ? null : redact(text));
  return [redact(user_id), shown(user_email), last_active_on, shown(person)];
}

function conflictRow(
  { user_id, valid_from, valid_to, person, others }: PeopleConflict,
  { redact }: ScreenFrame,
) {
  const end = valid_to === OPEN_END ? null : valid_to;
  return [redact(user_id), valid_from, end, redact(person), redact(others.join(', '))];
}

const PERSON_COLUMNS = [
  shrinking('person'),
  shrinking('team'),
  'from',
  'to',
  shrinking('name'),
  shrinking('department'),
  shrinking('cost center'),
  right('users'),
];

export const listAction: Action = async ({ settings, job, flags, out }) => {
  const list = await listPeople(settings, { organization: flags.text('--organization') }, job);
  const csv = () => writeCsv(PEOPLE_COLUMNS, list.people.map(writtenPerson));
  out.show(list, (frame) => (flags.isOn('--csv') ? csvLines(csv(), frame) : renderPeople(list, frame)));
  return EXIT.ok;
};

function renderPeople({ people }: PeopleList, frame: ScreenFrame): string[] {
  if (people.length === 0)
    return ['no people are loaded; daywalk people missing lists the users to begin with'];
  return renderTable(
    PERSON_COLUMNS,
    people.map((person) => personRow(person, frame)),
    frame,
  );
}

function personRow(row: ListedPerson, { redact }: ScreenFrame) {
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
