import { FIRST_DAY, type UtcDay } from '../core/day.ts';
import { UsageError } from '../core/errors.ts';
import { isDeeperThan, isObject, parseJson } from '../core/json.ts';
import { elementTexts } from '../core/json-text.ts';
import { DAILY_STREAMS, type DailyStream, type Stream } from '../core/stream.ts';
import { openLru } from './dataset/lru.ts';
import { anything, DEPTH_MAX, day, object, oneOf } from './parse.ts';

/** Where rows come from that are not generated. Rows are JSON texts, which are served as they are. */
export interface DaySource {
  /** The rows of a day, all of them; null if the source does not decide about the day, so that its rows are generated. */
  rowsOf(stream: DailyStream, date: UtcDay): readonly string[] | null;
  /** All readiness reports in the order of the list; null for generated ones. */
  reports(): readonly string[] | null;
  /** What it has, and what it lacks on purpose. */
  describe(): DaysDescription;
}

/** What a source of days has. */
export interface DaysDescription {
  /** Its days by stream, with the number of rows. The readiness reports have the date ''. */
  readonly days: readonly { readonly stream: Stream; readonly date: string; readonly rows: number }[];
  /** What was removed from the rows before they got here, in sentences. */
  readonly removed: readonly string[];
}

/** The days of an emulator that are given. */
export interface GivenDays extends DaySource {
  /** The rows of a day of /users by the ID of the user; null if they are generated. */
  usersOn(date: UtcDay): ReadonlyMap<string, readonly string[]> | null;
  /**
   * Takes over days from text as {@link parseDays} reads it. Days that were given before stay, unless they are given again.
   * @throws {UsageError} for invalid lines; then nothing changes.
   */
  put(text: string): void;
  /** Forgets what was put. */
  clear(): void;
}

/** Maximum weight of the rows that are kept by user. */
const USERS_BYTES_MAX = 64 * 1024 * 1024;

/** Opens the given days of an emulator: what was put, and beneath it the days of a source. */
export function openGivenDays(source: DaySource = NO_DAYS): GivenDays {
  let given: Days = new Map();
  const byUser = openLru<ReadonlyMap<string, string[]>>(USERS_BYTES_MAX, (users) =>
    [...users.values()].flat().reduce((bytes, row) => bytes + 2 * row.length, 1),
  );
  const layered = layer(() => given, source);
  return {
    ...layered,
    usersOn(date) {
      const rows = layered.rowsOf('users', date);
      return rows === null ? null : byUser.remember(date, () => groupByUser(rows));
    },
    put(text) {
      given = new Map([...given, ...readDays(text)]);
      byUser.clear();
    },
    clear() {
      given = new Map();
      byUser.clear();
    },
  };
}

/** Puts days over those of a source. */
function layer(days: () => Days, beneath: DaySource): DaySource {
  return {
    rowsOf: (stream, date) => days().get(nameOf(stream, date))?.rows ?? beneath.rowsOf(stream, date),
    reports: () => days().get(nameOf('readiness', ''))?.rows ?? beneath.reports(),
    describe() {
      const { days: lower, removed } = beneath.describe();
      const shown = lower.filter(({ stream, date }) => !days().has(nameOf(stream, date)));
      const own = [...days().values()].map(({ stream, date, rows }) => ({ stream, date, rows: rows.length }));
      return { days: [...shown, ...own].sort(byDateAndStream), removed };
    },
  };
}

const NO_DAYS: DaySource = {
  rowsOf: () => null,
  reports: () => null,
  describe: () => ({ days: [], removed: [] }),
};

function groupByUser(rows: readonly string[]): Map<string, string[]> {
  const users = new Map<string, string[]>();
  for (const row of rows) {
    const id = userIdOf(JSON.parse(row)) ?? '';
    const known = users.get(id);
    if (known === undefined) users.set(id, [row]);
    else known.push(row);
  }
  return users;
}

function userIdOf(row: unknown): string | null {
  const id = isObject(row) ? row['user_id'] : undefined;
  return typeof id === 'string' ? id : null;
}

/**
 * Reads days: one JSON object per line, or a list of them. A line gives a day of a stream whole:
 * `{"stream": "users", "date": "2026-03-02", "rows": [{"user_id": "u1", "date": "2026-03-02", "sessions": 3}]}`. The stream
 * `readiness` has no date.
 * @param beneath decides about the other days. @default they are generated
 * @throws {UsageError} that names the line and what is accepted there.
 */
export function parseDays(text: string, beneath: DaySource = NO_DAYS): DaySource {
  const days = readDays(text);
  return layer(() => days, beneath);
}

interface GivenDay {
  readonly stream: Stream;
  readonly date: string;
  readonly rows: readonly string[];
}
type Days = ReadonlyMap<string, GivenDay>;

const ROWS_MAX = 1_000_000;

function readDays(text: string): Days {
  const lines = text.trimStart().startsWith('[') ? listedLines(text) : text.split(/\r?\n/);
  const days = new Map<string, GivenDay>();
  let rows = 0;
  lines.forEach((line, index) => {
    if (line.trim() === '') return;
    const at = `line ${index + 1}`;
    const read = readLine(line, at);
    const name = nameOf(read.stream, read.date);
    rows += read.rows.length;
    if (days.has(name)) refuse(at, `${name.trimEnd()} is given twice`, 'give a day of a stream in one line');
    if (rows > ROWS_MAX) refuse(at, `there are more than ${ROWS_MAX} rows`, 'give fewer days at once');
    days.set(name, read);
  });
  return days;
}

function listedLines(text: string): string[] {
  parseLine(text, 'the list');
  return elementTexts(`{"lines":${text}}`, 'lines');
}

const parseDayLine = object({ stream: oneOf(...DAILY_STREAMS), date: day, rows: anything }, {});
const parseReportsLine = object({ stream: oneOf('readiness'), rows: anything }, { date: oneOf('') });

function readLine(line: string, at: string): GivenDay {
  const json = parseLine(line, at);
  const isReports = isObject(json) && json['stream'] === 'readiness';
  const { stream, date = '', rows } = isReports ? parseReportsLine(json, at) : parseDayLine(json, at);
  if (!Array.isArray(rows))
    return refuse(`${at}.rows`, 'it is not a list', 'give rows as the API answers them');
  if (date !== '' && date < FIRST_DAY) {
    refuse(`${at}.date`, `${date} is before the first day with data`, `give a day from ${FIRST_DAY}`);
  }
  rows.forEach((row: unknown, index) => {
    expectRow(row, { stream, date }, `${at}.rows[${index}]`);
  });
  if (isReports) refuseRepeatedReports(rows, at);
  return { stream, date, rows: elementTexts(line, 'rows') };
}

/** What the emulator needs of a row to answer requests about it. Anything else may be as odd as the service's. */
function expectRow(row: unknown, { stream, date }: Pick<GivenDay, 'stream' | 'date'>, at: string): void {
  const record = isObject(row) ? row : refuse(at, 'it is not an object', 'give rows as the API answers them');
  if (stream === 'readiness') {
    if (!isId(record['reportId'])) refuse(`${at}.reportId`, 'it is not an ID', 'give the ID of the report');
    return;
  }
  if (record['date'] !== date) refuse(`${at}.date`, 'it is not the day of the line', `write ${date}`);
  if (stream === 'users' && !isId(record['user_id']))
    refuse(`${at}.user_id`, 'it is not an ID', 'give the ID of the user, by which pages are made');
}

/** An empty text would be an empty cursor. */
function isId(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** A list of reports is walked from ID to ID, so an ID that comes twice would lead back. */
function refuseRepeatedReports(rows: readonly unknown[], at: string): void {
  const known = new Set<unknown>();
  rows.forEach((row, index) => {
    const id = isObject(row) ? row['reportId'] : undefined;
    if (known.has(id))
      refuse(`${at}.rows[${index}].reportId`, `${JSON.stringify(id)} is given twice`, 'give a report once');
    known.add(id);
  });
}

function parseLine(line: string, at: string): unknown {
  const json = parseJson(line);
  if (json === undefined) {
    const example = '{"stream": "users", "date": "2026-03-02", "rows": []}';
    return refuse(at, 'it is not JSON', `give one JSON object per line: ${example}`);
  }
  if (!isDeeperThan(json, DEPTH_MAX)) return json;
  return refuse(
    at,
    `it has more than ${DEPTH_MAX} levels`,
    'give rows with fewer lists and objects in each other',
  );
}

function refuse(at: string, problem: string, hint: string): never {
  throw new UsageError(`days, ${at}: ${problem}`, { hint });
}

function nameOf(stream: Stream, date: string): string {
  return `${stream} ${date}`;
}

function byDateAndStream(a: { stream: Stream; date: string }, b: { stream: Stream; date: string }): number {
  return a.date === b.date ? (a.stream < b.stream ? -1 : 1) : a.date < b.date ? -1 : 1;
}
