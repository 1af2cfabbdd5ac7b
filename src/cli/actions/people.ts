import { findMissingPeople } from '../../../jobs/csv-files.ts';
import { EXIT } from '../../core/exit-code.ts';
import {
  MISSING_COLUMNS,
  type MissingPeople,
  type MissingUser,
  missingPerson,
} from '../../csv-files/missing-people.ts';
import { writeCsv } from '../../csv-files/write-csv.ts';
import { OPEN_END, type PeopleConflict } from '../../rollups/resolve-people.ts';
import { csvLines, type ScreenFrame } from '../output/output.ts';
import type { Action } from '../program/command.ts';
import { counted } from '../screens/numbers.ts';
import { renderListing, shrinking } from '../screens/table.ts';
import { wrapText } from '../screens/text.ts';

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
