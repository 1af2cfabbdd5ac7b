import { CannotBeSummed, type Expected, expectedRows } from './expected-rows.ts';
import {
  type Aside,
  canBeStored,
  isImpossible,
  isRecord,
  type Json,
  SHAPES,
  unknownFields,
  usable,
} from './rules.ts';
import { normal } from './stored.ts';

/** An answer as it was sent. */
export interface Served {
  readonly url: URL;
  readonly status: number;
  readonly body: Buffer;
}

/** Decides the correct result of a unit from these answers. */
export type Verdict =
  /** Nothing of it is stored; what was stored before stays. */
  | { readonly kind: 'refused' }
  /** It names another organization, which ends the run. */
  | { readonly kind: 'foreign' }
  | {
      readonly kind: 'stored';
      readonly rows: Expected;
      readonly aside: readonly Aside[];
      /** Some key is impossible or contradicts another one: its rows are those that were stored before. */
      readonly isHeld: boolean;
      /** So deep that a stack may not suffice: the unit may fail as well. */
      readonly isDeep: boolean;
    };

const REFUSED = { kind: 'refused' } as const;

/** Levels that every stack has room for. */
const DEPTH_MAX = 500;

/** Parses the body of an answer; undefined if it is not a valid answer. */
export function parsedBody({ status, body }: Served): { value: unknown; isDeep: boolean } | undefined {
  if (status !== 200) return undefined;
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
    return { value: JSON.parse(text), isDeep: depthOf(text) > DEPTH_MAX };
  } catch {
    return undefined;
  }
}

/** How deep a text nests at most; brackets within texts count too, which only makes it more careful. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index) | 0x20;
    if (code === 0x7b) deepest = Math.max(deepest, ++depth);
    else if (code === 0x7d) depth -= 1;
  }
  return deepest;
}

/** Decides the correct result of a day from the answers to its last walk, in order. */
export function judgeDay(stream: string, day: string, orgId: string, walk: readonly Served[]): Verdict {
  const shape = SHAPES[stream];
  if (shape === undefined) throw new Error(`there is no stream ${stream}`);
  const aside: Aside[] = [];
  const rows: Json[] = [];
  const cursors = new Set<unknown>();
  const users = new Set<string>();
  let isDeep = false;
  for (const [number, served] of walk.entries()) {
    const body = parsedBody(served);
    if (body === undefined || !isEnvelope(body.value)) return REFUSED;
    const { data, meta } = body.value;
    isDeep ||= body.isDeep;
    if (meta['org_id'] !== orgId) return { kind: 'foreign' };
    if (isAboutOther(meta, served.url.searchParams)) return REFUSED;
    for (const [index, row] of data.entries()) {
      const path = `data[${index}]`;
      const kept = usable(shape, row, path, aside);
      if (kept?.['date'] === day) rows.push(kept);
      else if (
        kept !== undefined &&
        served.url.searchParams.get('startDate') === served.url.searchParams.get('endDate')
      )
        aside.push({ path, value: row, isForeign: true });
    }
    if (stream !== 'users') return stored(stream, rows, { aside, isDeep });
    const before = users.size;
    for (const row of data) users.add(userOf(row, number));
    if (typeof meta['has_more'] !== 'boolean' || (data.length > 0 && users.size === before)) return REFUSED;
    const cursor = meta['next_cursor'] ?? '';
    if (!meta['has_more']) {
      const isEnd = cursor === '' || cursor === served.url.searchParams.get('cursor');
      if (!isEnd && !isEmptyEnd(walk[number + 1])) return REFUSED;
      return stored(stream, rows, { aside, isDeep });
    }
    if (cursor === '' || cursors.has(cursor) || number + 1 === walk.length) return REFUSED;
    cursors.add(cursor);
  }
  return REFUSED;
}

/** True if an answer names another first or last day than requested. */
function isAboutOther(meta: Json, asked: URLSearchParams): boolean {
  const names = [
    ['start_date', 'startDate'],
    ['end_date', 'endDate'],
  ] as const;
  return names.some(([metaName, name]) => (meta[metaName] ?? asked.get(name)) !== asked.get(name));
}

/** The identity of a user row: user and day, or the whole row if one is missing. */
function userOf(row: unknown, page: number): string {
  const { user_id: user, date } = isRecord(row) ? row : {};
  if (typeof user === 'string' && user !== '' && typeof date === 'string')
    return JSON.stringify([user, date]);
  try {
    return JSON.stringify(row);
  } catch {
    return `too deep for a text, on page ${page}`;
  }
}

/** True for an empty last page, which may follow a cursor at the end. */
function isEmptyEnd(served: Served | undefined): boolean {
  const value = served && parsedBody(served)?.value;
  return isEnvelope(value) && value.data.length === 0 && value.meta['has_more'] !== true;
}

function stored(
  stream: string,
  rows: readonly Json[],
  { aside, isDeep }: { aside: readonly Aside[]; isDeep: boolean },
): Verdict {
  try {
    const last = lastOf(stream, rows);
    const isHeld = rows.some(isImpossible) || isContradictory(stream, rows);
    return { kind: 'stored', rows: expectedRows(stream, last), aside, isHeld, isDeep };
  } catch (error) {
    if (error instanceof CannotBeSummed) return REFUSED;
    throw error;
  }
}

/** A day has one row, and a user too; should there be more, the last one counts. */
function lastOf(stream: string, rows: readonly Json[]): Json[] {
  if (stream !== 'users') return rows.slice(-1);
  return [...new Map(rows.map((row) => [row['user_id'], row])).values()];
}

/** True if a day, or a user, has rows that differ. */
function isContradictory(stream: string, rows: readonly Json[]): boolean {
  const texts = new Map<unknown, string>();
  return rows.some((row) => {
    const key = stream === 'users' ? row['user_id'] : '';
    const text = normal({ ...row, unknown: unknownFields(row) });
    const before = texts.get(key) ?? text;
    texts.set(key, text);
    return before !== text;
  });
}

function isEnvelope(value: unknown): value is { data: unknown[]; meta: Json } {
  if (!isRecord(value) || !Array.isArray(value['data'])) return false;
  const { meta } = value;
  if (!isRecord(meta)) return false;
  const { org_id: org, has_more: more } = meta;
  const isLabel = (name: string) => ['string', 'undefined'].includes(typeof (meta[name] ?? undefined));
  return (
    typeof org === 'string' &&
    org !== '' &&
    canBeStored(org) &&
    (more === undefined || more === null || typeof more === 'boolean') &&
    ['start_date', 'end_date', 'next_cursor'].every(isLabel)
  );
}

/** Reads the reports of a page: rows by id, and what must be quarantined; undefined if the page is invalid. */
export function judgeReports(
  served: Served,
):
  | { reports: Map<string, Expected>; held: Set<string>; aside: Aside[]; ids: string[]; isDeep: boolean }
  | undefined {
  const body = parsedBody(served);
  const shape = SHAPES['readiness'];
  if (shape === undefined || body === undefined || !isRecord(body.value)) return undefined;
  const { reports: list } = body.value;
  if (!Array.isArray(list)) return undefined;
  const aside: Aside[] = [];
  const reports = new Map<string, Expected>();
  const held = new Set<string>();
  const texts = new Map<string, string>();
  const ids: string[] = [];
  for (const [index, report] of list.entries()) {
    if (isRecord(report) && typeof report['reportId'] === 'string' && report['reportId'] !== '')
      ids.push(report['reportId']);
    const kept = usable(shape, report, `reports[${index}]`, aside);
    if (kept === undefined) continue;
    const id = String(kept['reportId']);
    const text = normal({ ...kept, unknown: unknownFields(kept) });
    if (isImpossible(kept) || (texts.get(id) ?? text) !== text) held.add(id);
    texts.set(id, text);
    reports.set(id, expectedRows('readiness', [kept]));
  }
  return { reports, held, aside, ids, isDeep: body.isDeep };
}
