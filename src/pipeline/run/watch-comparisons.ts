import { createHash } from 'node:crypto';
import type { AnyTable } from '../../../schema/define.ts';
import { decodeRows } from '../../../schema/digest.ts';
import {
  columnsOf,
  decoderOf,
  pickerOf,
  readerOf,
  TRAILING_COLUMNS,
  type Values,
} from '../../../schema/row.ts';
import { activityDaily, tablesOf, tokensDailyByModel, userDaily } from '../../../schema/tables.ts';
import { type RowCheck, rowCheck } from '../../checks/index.ts';
import { GROUP_BY, MODEL_KEYS, TokensByModelRow } from '../../contract/index.ts';
import type { UtcDay } from '../../core/day.ts';
import { canonicalJson } from '../../core/json.ts';
import { ApiError, OverloadError } from '../../http/index.ts';
import { areLeavers } from '../../judge/doubt.ts';
import { parseNotes } from '../../judge/notes.ts';
import type { Looked, Seen } from '../../judge/watch.ts';
import type { Warehouse } from '../../port/index.ts';
import type { LedgerDay } from '../../units/index.ts';
import { activeUsersOf, isActive, type NormalizedDay, sumsOfDay } from '../commit.ts';
import { batchesOf, type DayBatch } from '../plan.ts';
import { type PullCall, pullGrouped, type Source } from '../pull.ts';
import { expectAnswerTo } from '../validate.ts';
import type { Outcomes } from './outcomes.ts';
import type { Watch } from './watch.ts';

const METRICS = ['billable_tokens', 'input_tokens', 'output_tokens'] as const;
const KEYS = ['group_key', ...MODEL_KEYS];
const checkRow = rowCheck(TokensByModelRow) as RowCheck<TokensByModelRow>;

/** What comparisons with the service need. */
export interface ComparisonOptions {
  readonly source: Source;
  readonly warehouse: Warehouse;
  readonly orgId: string;
  readonly watch: Watch;
  readonly outcomes: Outcomes;
  readonly signal: AbortSignal;
}

/**
 * Requests the service's sums by model (specification, section 4.2, group_by rules) and compares them with the stored
 * ones: a few hundred bytes a day instead of every user's tokens. After a refusal, the run compares no more sums.
 * @param daysMax maximum number of days per request.
 */
export async function lookAtModelSums(options: ComparisonOptions, daysMax: number): Promise<void> {
  const { watch, outcomes, signal } = options;
  const answers: SumsAnswer[] = [];
  try {
    for (const { days } of watch.modelDays) {
      for (const batch of batchesOf('tokens', days, daysMax)) {
        if (signal.aborted) return;
        answers.push(await requestSums(options, batch));
      }
    }
  } catch (error) {
    if (!isRefusal(error)) {
      const asked = new Set(answers.flatMap(({ days }) => days));
      const left = watch.modelDays.flatMap(({ days }) => days.filter((day) => !asked.has(day)));
      watch.recordFailure(left.map((day) => ({ stream: 'tokens', day })));
      outcomes.recordFailedLook('tokens', error);
    }
  }
  // All answers have the same shape, but a single one may not show it: it may have no models, or only models that are not
  // stored, as if they had other names.
  const isComparable = answers.some(({ answered, stored }) =>
    [...answered].some(([day, sums]) => shareModels(sums, stored.get(day))),
  );
  for (const answer of answers) {
    for (const look of looksOf(answer, watch, isComparable)) watch.recordLook(look);
  }
}

/** True if the service does not group, or not for this key. An overloaded service says nothing about that. */
export function isRefusal(error: unknown): boolean {
  return (
    error instanceof ApiError &&
    !(error instanceof OverloadError) &&
    error.status >= 400 &&
    error.status < 500
  );
}

/** The sums of one day: by model, each metric that the service names. */
type Sums = Map<string, Map<string, number>>;

/** The answered and the stored sums of some days. */
interface SumsAnswer {
  readonly days: readonly UtcDay[];
  readonly answered: ReadonlyMap<string, Sums>;
  readonly stored: ReadonlyMap<string, Sums>;
}

async function requestSums(options: ComparisonOptions, batch: DayBatch): Promise<SumsAnswer> {
  const { source, orgId, signal } = options;
  const call: PullCall = { signal, meter: { requests: 0, retries: 0 } };
  const page = await pullGrouped(source, batch, GROUP_BY.tokens, call);
  expectAnswerTo(page, orgId, batch);
  const { rows } = checkRow(page.data, { path: 'data', text: page.text });
  return { days: batch.days, answered: sumsByDay(rows), stored: await storedSums(options, batch) };
}

function looksOf({ days, answered, stored }: SumsAnswer, watch: Watch, isComparable: boolean): Looked[] {
  return days.flatMap((day): Looked[] => {
    const unit = watch.settled({ stream: 'tokens', day });
    if (unit === undefined) return [];
    const sums = answered.get(day) ?? new Map<string, never>();
    const sha256 = digestOf(sums);
    // Sums that cannot be compared with the rows are compared with the last answer to the same request.
    const { models = sha256 } = parseNotes(unit.watch);
    const isSame = isComparable ? isEqual(sums, stored.get(day)) : models === sha256;
    const seen = isSame ? null : ({ sha256, by: 'models' } as const);
    return [{ unit, by: 'models', seen, ...(isComparable ? {} : { models: sha256 }) }];
  });
}

function sumsByDay(rows: readonly TokensByModelRow[]): Map<UtcDay | string, Sums> {
  const days = new Map<string, Sums>();
  for (const row of rows) {
    const model = KEYS.map((key): unknown => Reflect.get(row, key)).find(
      (value) => typeof value === 'string',
    );
    if (typeof model !== 'string') continue;
    const sums = days.get(row.date) ?? new Map<string, Map<string, number>>();
    days.set(row.date, sums);
    add(sums, model, (metric) => row[metric]);
  }
  return days;
}

async function storedSums(
  { warehouse, orgId }: ComparisonOptions,
  { days }: DayBatch,
): Promise<Map<string, Sums>> {
  const stored = new Map<string, Sums>();
  const scope = { orgId, firstDay: days[0], lastDay: days.at(-1) ?? days[0] };
  const rows = await warehouse.rowsOf(tokensDailyByModel, scope);
  for (const row of rows.map(decoderOf(tokensDailyByModel))) {
    const day = String(row.date);
    const sums = stored.get(day) ?? new Map<string, Map<string, number>>();
    stored.set(day, sums);
    add(sums, String(row.model_id), (metric) => row[metric]);
  }
  return stored;
}

function add(sums: Sums, model: string, read: (metric: (typeof METRICS)[number]) => unknown): void {
  const own = sums.get(model) ?? new Map<string, number>();
  sums.set(model, own);
  for (const metric of METRICS) {
    const value = read(metric);
    if (typeof value === 'number') own.set(metric, (own.get(metric) ?? 0) + value);
  }
}

/** False for rows of another shape, in which no model has the name of a stored one. */
function shareModels(answered: Sums, stored: Sums | undefined): boolean {
  return stored !== undefined && [...answered.keys()].some((model) => stored.has(model));
}

/** True if both have the same models, and the metrics that both have are equal. */
function isEqual(answered: Sums, stored: Sums = new Map()): boolean {
  if (answered.size !== stored.size) return false;
  return [...answered].every(([model, values]) => {
    const held = stored.get(model);
    return (
      held !== undefined && [...values].every(([metric, value]) => (held.get(metric) ?? value) === value)
    );
  });
}

function digestOf(sums: Sums): string {
  const plain = Object.fromEntries([...sums].map(([model, values]) => [model, Object.fromEntries(values)]));
  return createHash('sha256').update(canonicalJson(plain)).digest('hex');
}

const isTrailing = (name: string) => TRAILING_COLUMNS.has(name);

/** Compares the answer for a settled day with the stored rows. Returns the difference; null if there is none. */
export async function compareSettledDay(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  unit: LedgerDay,
  { day, contentSha256 }: { readonly day: NormalizedDay; readonly contentSha256: string },
): Promise<Seen> {
  if (contentSha256 === unit.contentSha256 || isStillIdle(unit, day)) return null;
  const isMinor = await isMinorDifference(warehouse, day);
  const leaver = await userBeforeLeavers(warehouse, day);
  return {
    sha256: contentSha256,
    by: 'rows',
    activeUsers: activeUsersOf(day),
    figures: sumsOfDay(day),
    ...(isMinor ? { isMinor } : {}),
    ...(leaver === null ? {} : { leaver }),
  };
}

const userOf = readerOf(userDaily, 'user_id');

/**
 * The user before the first who is gone from a day, if a few are, nobody came, and the rows of the others are as they were;
 * '' if there is none. Null for any other difference.
 */
async function userBeforeLeavers(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  { orgId, unit: { stream, day }, tables }: NormalizedDay,
): Promise<string | null> {
  const answered = tables.find(({ table }) => table === userDaily);
  if (stream !== 'users' || answered === undefined) return null;
  const textOf = (row: Values) => JSON.stringify(row);
  const rows = await warehouse.rowsOf(userDaily, { orgId, firstDay: day, lastDay: day });
  const stored = new Set(rows.map(textOf));
  const sent = new Set(decodeRows(answered).rows.map(textOf));
  const added = [...sent].filter((row) => !stored.has(row)).length;
  if (!areLeavers({ gone: stored.size - (sent.size - added), stored: stored.size, added })) return null;
  const first = rows.findIndex((row) => !sent.has(textOf(row)));
  const before = rows[first - 1];
  return before === undefined ? '' : String(userOf(before));
}

/**
 * True if a day without activity still has none: no row means the same as a row of zeros. But an idle day may also have
 * counts over trailing days, and these must not get lost.
 */
function isStillIdle(unit: LedgerDay, { tables }: NormalizedDay): boolean {
  if (unit.state !== 'empty' || isActive(tables)) return false;
  const isWithoutRows = tables.every(({ count }) => count === 0);
  return isWithoutRows || (unit.rows === 0 && !hasTrailing(tables));
}

function hasTrailing(tables: NormalizedDay['tables']): boolean {
  const activity = tables.find(({ table }) => table === activityDaily);
  if (activity === undefined) return false;
  const trailing = pickerOf(activityDaily, columnsOf(activityDaily).filter(isTrailing));
  return decodeRows(activity).rows.some((row) => trailing(row).some((value) => (value ?? 0) !== 0));
}

/** Columns that change on many days if one day changes, or the policy for email addresses does. */
const MINOR_COLUMNS: ReadonlySet<string> = new Set([...TRAILING_COLUMNS, 'user_email']);

async function isMinorDifference(
  warehouse: Pick<Warehouse, 'rowsOf'>,
  { orgId, unit: { stream, day }, tables }: NormalizedDay,
): Promise<boolean> {
  for (const table of tablesOf(stream)) {
    const names = columnsOf<AnyTable>(table).filter((name) => !MINOR_COLUMNS.has(name));
    const others = pickerOf<AnyTable>(table, names);
    const textOf = (rows: readonly Values[]) => JSON.stringify(rows.map(others));
    const answered = tables.find((part) => part.table === table);
    const rows = answered === undefined ? [] : decodeRows(answered).rows;
    const stored = await warehouse.rowsOf(table, { orgId, firstDay: day, lastDay: day });
    if (textOf(stored) !== textOf(rows)) return false;
  }
  return true;
}
