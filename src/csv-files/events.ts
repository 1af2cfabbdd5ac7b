import type { RowOf } from '../../schema/row.ts';
import { tables } from '../../schema/tables.ts';
import { UsageError } from '../core/errors.ts';
import { compareText } from '../core/json.ts';
import { teamWarnings } from './budgets.ts';
import { type CellParser, dayCell, Mistakes, required, teamCell, textCell } from './csv-columns.ts';
import {
  type LoadedFile,
  oneRowEach,
  type RowChanges,
  type RowTypes,
  rowChanges,
  rowScreen,
} from './loaded-file.ts';
import { type RowOfLine, rowStoreOf, storedRows } from './replace-rows.ts';

type EventRow = RowOf<typeof tables.events>;

const stored = rowStoreOf(tables.events);

/** What a load of events has changed and found. */
interface FoundEvents extends RowChanges<EventRow> {
  /** Number of events that are stored. */
  readonly events: number;
  /** What is doubtful about them, one sentence each. */
  readonly warnings: readonly string[];
}

const CLOSED = 'yes';

const closedCell: CellParser<0 | 1> = (text) => {
  if (text === CLOSED) return 1;
  throw new UsageError(`is not ${CLOSED}`, { hint: `write ${CLOSED}, or leave it empty` });
};

const columns = {
  date: required(dayCell),
  text: required(textCell),
  team: { presence: 'optional', parse: teamCell, absent: '' },
  closed: { presence: 'optional', parse: closedCell, absent: 0 },
} as const;

/**
 * What happened on a day, of all or of a team, and the days on which they do not work. A day that one line closes is closed in
 * each line of the day and team, so that it stays closed where texts are withheld and the lines become one.
 */
export const eventsFile: LoadedFile<RowTypes<typeof columns, EventRow, FoundEvents>> = {
  noun: ['event', 'events'],
  format: { columns },
  holdsTexts: true,
  store: stored,
  linesOf: (lines, { orgId, file, gate }) => {
    const mistakes = new Mistakes(file);
    for (const [first, ...others] of Map.groupBy(lines, ({ cells }) => nameOf(cells)).values()) {
      const message = `line ${first?.line} says the same`;
      for (const { line } of others) mistakes.add({ line, message, hint: 'remove one of the two lines' });
    }
    mistakes.refuse();
    const closed = new Set(lines.flatMap(({ cells }) => (cells.closed === 1 ? placeOf(cells) : [])));
    const rows = new Map<string, RowOfLine<EventRow>>();
    for (const { line, cells } of lines) {
      const own = gate.on(cells.date);
      const row: EventRow = {
        org_id: orgId,
        date: cells.date,
        team: own.key(cells.team),
        text: own.column('text', cells.text, true) ?? '',
        closed: closed.has(placeOf(cells)) ? 1 : 0,
      };
      rows.set(nameOf(row), { line, row });
    }
    return [...rows.values()].toSorted((a, b) => compareText(nameOf(a.row), nameOf(b.row)));
  },
  compared: oneRowEach<EventRow>(nameOf),
  *find({ orgId, lines, changes }) {
    const rows = lines.map(({ row }) => row);
    const warnings = yield* teamWarnings(
      orgId,
      rows,
      'No person has a team yet, so events of teams are shown nowhere.',
    );
    return { events: rows.length, ...rowChanges(changes), warnings };
  },
  list: (orgId) => storedRows(stored, orgId),
  written: ({ date, text, team, closed }) => ({ date, text, team, closed: closed === 1 ? CLOSED : '' }),
  screen: {
    ...rowScreen<EventRow>({
      columns: ['date', { header: 'team', shrinks: true }, { header: 'event', shrinks: true }, 'closed'],
      cellsOf: ({ date, team, text, closed }, words) => [
        date,
        team === '' ? 'all' : words.text(team),
        words.text(text),
        closed === 1 ? CLOSED : '',
      ],
    }),
    sizeOf: ({ events }) => events,
    warningsOf: ({ warnings }) => warnings,
    whenEmpty: 'no events are loaded; daywalk events load stores those of a CSV file',
  },
};

function placeOf({ date, team }: Pick<EventRow, 'date' | 'team'>): string {
  return `${date} ${team}`;
}

/** Names an event among those of an organization; sorts by day, team and text. */
function nameOf({ text, ...place }: Pick<EventRow, 'date' | 'team' | 'text'>): string {
  return JSON.stringify([placeOf(place), text]);
}
