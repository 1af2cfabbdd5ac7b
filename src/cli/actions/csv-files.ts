import { resolve } from 'node:path';
import {
  findMissingPeople,
  type LoadOf,
  type LoadRequest,
  listRows,
  loadFile,
} from '../../../jobs/csv-files.ts';
import { OPEN_END } from '../../../schema/row.ts';
import { EXIT } from '../../core/exit-code.ts';
import {
  type Counts,
  type FileScreen,
  type FileTypes,
  type LoadedFile,
  type MissingPeople,
  type Wording,
  writeCsv,
} from '../../csv-files/index.ts';
import type { PeopleConflict } from '../../rollups/index.ts';
import { SETTINGS } from '../../settings/index.ts';
import { csvLines, type ScreenFrame } from '../output/output.ts';
import type { Action, CommandContext } from '../program/command.ts';
import { counted, formatMoney, formatNumber, formatPrice } from '../screens/numbers.ts';
import { nameSpans, renderWarnings } from '../screens/provenance.ts';
import { renderFields, renderListing, renderTable, shrinking } from '../screens/table.ts';
import { wrapText } from '../screens/text.ts';

/** Loads a CSV file of a kind, and shows what has changed. */
export function loadAction<Types extends FileTypes>(kind: LoadedFile<Types>): Action {
  return async (context) => {
    const load = await loadFile(kind, context.settings, requestOf(context), context.job);
    context.out.show(load, (frame) => renderLoad(kind, load, frame));
    return EXIT.ok;
  };
}

function requestOf({ flags, operands: [name = ''], directory }: CommandContext): LoadRequest {
  return {
    file: { name, path: resolve(directory, name) },
    organization: flags.text('--organization'),
    isDryRun: flags.isOn('--dry-run'),
    allowsEmpty: flags.isOn('--allow-empty'),
  };
}

const CHANGES_SHOWN_MAX = 20;

/** What is drawn of a kind. */
interface Drawn<Item, Found extends Counts, Listed> {
  readonly noun: readonly [one: string, all: string];
  readonly screen: FileScreen<Item, Found, Listed>;
}

/** Draws how many rows a load has changed, which, and what is doubtful about them. */
function renderLoad<Item, Found extends Counts, Listed>(
  { noun, screen }: Drawn<Item, Found, Listed>,
  load: LoadOf & Found,
  frame: ScreenFrame,
): string[] {
  const words = wordingOf(frame);
  const { title, columns, itemsOf, cellsOf } = screen.changes;
  const listing = renderListing(
    { columns, items: itemsOf(load), row: (item) => cellsOf(item, words), shownMax: CHANGES_SHOWN_MAX },
    { ...frame, indent: 2 },
  );
  return [
    frame.style.green(headlineOf(noun, screen, load)),
    ...renderCounts(screen, load, frame),
    ...(listing.length === 0 ? [] : ['', ...(title === undefined ? [] : [title]), ...listing]),
    ...renderWarnings(screen.warningsOf?.(load, words) ?? [], frame),
  ];
}

function headlineOf<Item, Found extends Counts, Listed>(
  [one, all]: Drawn<Item, Found, Listed>['noun'],
  { sizeOf }: FileScreen<Item, Found, Listed>,
  load: LoadOf & Found,
): string {
  const size = counted(sizeOf(load), one, all);
  const { added = 0, removed = 0, moved = 0, changed = 0 } = load;
  if (added + removed + moved + changed === 0) return `${all}: nothing to do; stored already: ${size}`;
  return load.dry_run ? `${all}: dry run, nothing is stored; ${size} in the file` : `${all}: ${size} stored`;
}

function renderCounts<Item, Found extends Counts, Listed>(
  { counts, factsOf }: FileScreen<Item, Found, Listed>,
  found: Found,
  frame: ScreenFrame,
): string[] {
  const named = counts.map(([kind, name]) => [name, found[kind] ?? 0] as const);
  if (factsOf === undefined) {
    return [`  ${named.map(([name, count]) => `${formatNumber(count)} ${name}`).join(', ')}`];
  }
  return ['', ...renderFields([...named, ...factsOf(found, wordingOf(frame))], frame)];
}

function wordingOf({ redact }: ScreenFrame): Wording {
  return {
    number: formatNumber,
    counted,
    money: formatMoney,
    price: formatPrice,
    spans: nameSpans,
    text: (text) => (text === null ? null : redact(text)),
    variable: (setting) => SETTINGS[setting].env,
  };
}

/** Lists the rows that files of a kind have loaded: as a table, or as a file that can be loaded again. */
export function listAction<Types extends FileTypes>(kind: LoadedFile<Types>): Action {
  const { format, noun, screen, written } = kind;
  return async ({ settings, job, flags, out }) => {
    const request = { organization: flags.text('--organization') };
    const { orgId, rows } = await listRows(kind, settings, request, job);
    const shown = rows.filter((row) => kind.isHidden?.(row) !== true);
    out.show({ org_id: orgId, [noun[1]]: shown }, (frame) =>
      flags.isOn('--csv')
        ? csvLines(writeCsv(Object.keys(format.columns), rows.map(written)), frame)
        : renderRows(screen, shown, frame),
    );
    return EXIT.ok;
  };
}

function renderRows<Item, Found extends Counts, Listed>(
  { list, whenEmpty }: FileScreen<Item, Found, Listed>,
  rows: readonly Listed[],
  frame: ScreenFrame,
): string[] {
  if (rows.length === 0) return [whenEmpty];
  const words = wordingOf(frame);
  const cells = rows.map((row) => list.cellsOf(row, words));
  return renderTable(list.columns, cells, frame);
}

export const missingAction: Action = async ({ settings, job, flags, log, out }) => {
  const missing = await findMissingPeople(settings, { organization: flags.text('--organization') }, job);
  let isCsv = false;
  out.show(missing, (frame) => {
    isCsv = flags.isOn('--csv') || !frame.isTerminal;
    return isCsv
      ? csvLines(writeCsv(MISSING_COLUMNS, missing.users.map(missingPerson)), frame)
      : renderMissing(missing, frame);
  });
  if (isCsv) {
    for (const message of notesOf(missing)) log.write({ level: 'warn', event: 'people-note', message });
  }
  return EXIT.ok;
};

/** The row of a file to which a person only has to add the team. */
type MissingUser = MissingPeople['users'][number];

function missingPerson(user: MissingUser) {
  const { user_id, user_email, valid_from, valid_to } = user;
  return { user_id, user_email, team: null, valid_from, valid_to };
}

/** The columns of a file with missing people. */
const MISSING_COLUMNS = ['user_id', 'user_email', 'team', 'valid_from', 'valid_to'] as const;

const USERS_SHOWN_MAX = 50;
const USER_COLUMNS = [shrinking('user'), shrinking('email'), 'last active', shrinking('person without team')];
const CONFLICT_COLUMNS = [shrinking('user'), 'from', 'to', shrinking('used'), shrinking('not used')];

/** Draws the users without a team, then the users who are several people, then how many people have no activity. */
function renderMissing(missing: MissingPeople, frame: ScreenFrame): string[] {
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
function notesOf({ users, conflicts, people_without_user }: MissingPeople): string[] {
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
