import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { Flag, Identity, Label, violationsOf } from '../checks/index.ts';
import { afterInput } from '../core/clock.ts';
import { RULES, type RuleName, UnitError } from '../core/errors.ts';
import { canonicalJson, isDeeperThan, isObject, isStorable } from '../core/json.ts';
import type { Answer } from '../http/index.ts';
import {
  CURSOR_CHARS_MAX,
  EMPTY_PAGES_MAX,
  LEVELS_MAX,
  PAGES_MAX,
  WALK_CHARS_MAX,
  WALK_ROWS_MAX,
} from './limits.ts';

/** An analytics response with a valid envelope; its rows are not checked yet. */
export interface AnalyticsPage extends Answer {
  readonly data: readonly unknown[];
  readonly meta: Meta;
}

/** A page of the readiness list with a valid envelope; its reports are not checked yet. */
export interface ReadinessPage extends Answer {
  readonly reports: readonly unknown[];
}

/**
 * The envelope of an analytics answer (specification, section 2.4).
 * @throws {UnitError} when there is no `data` array or no `meta.org_id`.
 */
export function analyticsPage(answer: Answer, name: string): AnalyticsPage {
  const { body } = answer;
  if (!envelopeCheck.Check(body) || !isStorable(body.meta.org_id))
    throw malformedError(name, answer, envelopeCheck);
  return { ...answer, data: body.data, meta: body.meta };
}

/**
 * The envelope of the readiness list (section 4.3).
 * @throws {UnitError} when there is no `reports` array.
 */
export function readinessPage(answer: Answer, name: string): ReadinessPage {
  const { body } = answer;
  if (!readinessEnvelopeCheck.Check(body)) throw malformedError(name, answer, readinessEnvelopeCheck);
  return { ...answer, reports: body.reports };
}

/**
 * Walks the pages of /users (section 4.2). Only `has_more` ends the walk: a page may be short, empty, or hold more
 * rows than its limit. If the last page has a cursor, it is followed once: an empty page there confirms the end.
 * @throws {UnitError} with a `reason`, when paging contradicts itself, a page repeats, or the walk leaves its bounds.
 */
export async function* walkUsers(
  get: (cursor: string | undefined, page: number) => Promise<AnalyticsPage>,
  name: string,
  { first, ahead = false, after }: UsersWalk = {},
): AsyncGenerator<AnalyticsPage, void, void> {
  const bounds = new WalkBounds({ name, charsMax: WALK_CHARS_MAX.users });
  let page = first ?? (await get(after, 1));
  let sent = after;
  for (;;) {
    const { hasMore, cursor } = takePage(page, bounds, sent);
    const next =
      ahead && hasMore && cursor !== undefined ? await whenSent(get(cursor, bounds.page + 1)) : undefined;
    yield page;
    if (cursor === undefined) return;
    const following = await (next?.page ?? get(cursor, bounds.page + 1));
    if (!hasMore) return confirmEnd(following, bounds);
    page = following;
    sent = cursor;
  }
}

/** Checks a page against the bounds of its walk. Returns the cursor of the next page. */
function takePage(
  page: AnalyticsPage,
  bounds: WalkBounds,
  sent: string | undefined,
): { readonly hasMore: boolean; readonly cursor: string | undefined } {
  const { has_more: hasMore, next_cursor: next } = page.meta;
  bounds.take(page);
  const at = `page ${bounds.page}`;
  if (typeof hasMore !== 'boolean')
    throw bounds.broken('paging-flags', `${at} has ${hasMore === null ? 'null for' : 'no'} has_more`);
  bounds.takeRows(page.data);
  if (next === undefined || next === null || next === '') {
    if (hasMore) throw bounds.broken('paging-flags', `${at} has more but no next_cursor`);
    return { hasMore, cursor: undefined };
  }
  // The cursor of the last page is the one that led to it, so it leads to no other page.
  if (!hasMore && next === sent) return { hasMore, cursor: undefined };
  bounds.takeCursor(next);
  return { hasMore, cursor: next };
}

/** Checks that the page after the end of a walk is empty. */
function confirmEnd(page: AnalyticsPage, bounds: WalkBounds): void {
  if (page.data.length === 0 && page.meta.has_more !== true) return;
  throw bounds.broken(
    'paging-flags',
    `page ${bounds.page} has no more, and its next_cursor leads to a page that is not empty`,
  );
}

/** Options of {@link walkUsers}. */
interface UsersWalk {
  /** The first page, if it has been pulled already. @default none */
  readonly first?: AnalyticsPage | undefined;
  /** The cursor of the first page. @default none */
  readonly after?: string | undefined;
  /** Requests the next page while the current one is processed. @default false */
  readonly ahead?: boolean;
}

/** Resolves once the request has been sent. If it fails, awaiting `page` throws the error. */
async function whenSent(page: Promise<AnalyticsPage>): Promise<{ readonly page: Promise<AnalyticsPage> }> {
  page.catch(() => undefined);
  await afterInput();
  return { page };
}

/**
 * Walks the pages of the readiness list (section 4.3). The service may cap the limit, so a short page does not end
 * the walk; only an empty page does.
 * @throws {UnitError} with a `reason`, when no report of a page has a reportId, a cursor repeats or is too long, or the
 * walk leaves its bounds.
 */
export async function* walkReadiness(
  get: (startAfter: string | undefined) => Promise<ReadinessPage>,
  name: string,
  startAfter?: string,
): AsyncGenerator<ReadinessPage & { readonly lastId: string }, void, void> {
  const bounds = new WalkBounds({ name, charsMax: WALK_CHARS_MAX.readiness });
  let cursor = startAfter;
  let tail: readonly unknown[] = [];
  for (;;) {
    const page = await get(cursor);
    if (page.reports.length === 0) return;
    bounds.take(page);
    const pages = bounds.page;
    const lastId = reportIdsOf(page).at(-1);
    if (lastId === undefined) {
      // The page repeats the reports without an ID at the end of the page before, so no other report follows.
      if (pages > 1 && isSame(page.reports, tail)) return;
      if (pages > 1 || startAfter === undefined) {
        throw bounds.broken('endless-walk', `page ${pages} has no report with a reportId to go on from`);
      }
      yield { ...page, lastId: startAfter };
      return;
    }
    bounds.takeCursor(lastId);
    yield { ...page, lastId };
    cursor = lastId;
    tail = page.reports.slice(page.reports.findLastIndex(hasId) + 1);
  }
}

/** True for lists of equal content; false if they nest too deeply to compare. */
function isSame(a: readonly unknown[], b: readonly unknown[]): boolean {
  return !isDeeperThan([a, b], LEVELS_MAX) && JSON.stringify(a) === JSON.stringify(b);
}

/** The IDs of the reports of a page, including reports that are otherwise malformed. */
export function reportIdsOf(page: ReadinessPage): string[] {
  return page.reports.filter(hasId).map(({ reportId }) => reportId);
}

function hasId(report: unknown): report is { reportId: string } {
  return isObject(report) && typeof report['reportId'] === 'string' && report['reportId'] !== '';
}

function malformedError(
  name: string,
  { body, requestId, target }: Answer,
  check: Parameters<typeof violationsOf>[0],
): UnitError {
  const id = requestId === undefined ? '' : ` (requestId ${requestId})`;
  const [found] = violationsOf(check, body, 'the answer');
  const { path, message } = found ?? { path: 'meta.org_id', message: 'cannot be stored' };
  return new UnitError(`${name} answered JSON of another shape: ${path} ${message}${id}`, {
    ...{ requestId, target },
    hint: path.startsWith('meta.')
      ? 'report it to the provider of the API: its specification names these fields'
      : 'check that the URL is that of the API',
  });
}

/** Options of {@link WalkBounds}. */
interface WalkBoundsOptions {
  /** Name of the walk, for messages. */
  readonly name: string;
  /** Maximum number of characters of all answers. */
  readonly charsMax: number;
}

/**
 * Checks the bounds of one walk: pages, characters, rows, cursors that repeat or are too long, pages without new rows. It
 * keeps one number for each row and cursor, so its own memory is bounded too.
 */
class WalkBounds {
  readonly #options: WalkBoundsOptions;
  readonly #cursors = new Set<number>();
  readonly #rows = new Set<number>();
  #pages = 0;
  #chars = 0;
  #emptyPages = 0;
  #latest: Pick<Answer, 'requestId' | 'target'> | undefined;

  constructor(options: WalkBoundsOptions) {
    this.#options = options;
  }

  /** Number of the latest page, from 1. */
  get page(): number {
    return this.#pages;
  }

  /**
   * Counts a page.
   * @throws {UnitError} `endless-walk` beyond the maximum of pages or characters.
   */
  take({ text, requestId, target }: Pick<Answer, 'text' | 'requestId' | 'target'>): void {
    const { charsMax } = this.#options;
    this.#latest = { requestId, target };
    this.#pages += 1;
    this.#chars += text.length;
    if (this.#pages > PAGES_MAX) throw this.broken('endless-walk', `no end within ${PAGES_MAX} pages`);
    if (this.#chars > charsMax) throw this.broken('endless-walk', `no end within ${charsMax} characters`);
  }

  /**
   * Checks the rows of the page.
   * @throws {UnitError} `repeated-page` if none of them is new; `empty-pages` for too many empty pages in a row.
   */
  takeRows(rows: readonly unknown[]): void {
    const before = this.#rows.size;
    for (const row of rows) this.#rows.add(fingerprint(keyOf(row) ?? `page ${this.#pages}`));
    this.#emptyPages = rows.length === 0 ? this.#emptyPages + 1 : 0;
    if (this.#rows.size > WALK_ROWS_MAX)
      throw this.broken('endless-walk', `no end within ${WALK_ROWS_MAX} rows`);
    if (this.#emptyPages > EMPTY_PAGES_MAX)
      throw this.broken('empty-pages', `page ${this.#pages} is empty like the ${EMPTY_PAGES_MAX} before it`);
    if (rows.length > 0 && this.#rows.size === before)
      throw this.broken('repeated-page', `page ${this.#pages} has only rows of earlier pages`);
  }

  /**
   * Checks the cursor of the next page.
   * @throws {UnitError} `long-cursor`, or `endless-walk` if an earlier page had it.
   */
  takeCursor(cursor: string): void {
    if (cursor.length > CURSOR_CHARS_MAX)
      throw this.broken('long-cursor', `page ${this.#pages} has a cursor of ${cursor.length} characters`);
    const before = this.#cursors.size;
    if (this.#cursors.add(fingerprint(cursor)).size === before)
      throw this.broken('endless-walk', `page ${this.#pages} repeats the cursor of an earlier page`);
  }

  /** The error of a walk that breaks a rule. */
  broken(reason: RuleName, what: string): UnitError {
    return new UnitError(`${this.#options.name}: ${what}`, {
      reason,
      ...this.#latest,
      hint: `the service pages wrongly: ${RULES[reason]}`,
    });
  }
}

/** The identity of a row of /users: user and day, or its whole text if one of them is missing; none if it nests too deeply. */
function keyOf(row: unknown): string | undefined {
  const { user_id: user, date } = isObject(row) ? row : {};
  if (typeof user === 'string' && user !== '' && typeof date === 'string') return `${user} ${date}`;
  return isDeeperThan(row, LEVELS_MAX) ? undefined : JSON.stringify(row);
}

/** A fingerprint of the values of a row. One that nests too deeply to compare equals none. */
export function valuesOf(row: object): number | symbol {
  return isDeeperThan(row, LEVELS_MAX) ? Symbol() : fingerprint(canonicalJson(row));
}

/** A 53-bit hash of a text, made of two hashes. One of 18,000 walks of a million rows has a collision. */
function fingerprint(text: string): number {
  let high = 0x811c9dc5;
  let low = 0x9747b28c;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x01000193);
    low = Math.imul(low ^ code, 0x5bd1e995) ^ (low >>> 15);
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}

/** `meta` of every analytics answer (specification, section 2.4); `has_more` and `next_cursor` on /users only. */
export const Meta = Type.Object({
  org_id: Identity,
  start_date: Label,
  end_date: Label,
  has_more: Flag,
  next_cursor: Label,
});
export type Meta = Static<typeof Meta>;

/** The envelope of every analytics answer, its rows not yet looked at. */
const Envelope = Type.Object({ data: Type.Array(Type.Unknown()), meta: Meta });

/** The envelope of the readiness list (section 4.3), its reports not yet looked at. */
const ReadinessEnvelope = Type.Object({ reports: Type.Array(Type.Unknown()) });

const envelopeCheck = Compile(Envelope);
const readinessEnvelopeCheck = Compile(ReadinessEnvelope);
