import { crc32 } from 'node:zlib';
import { isObject, parseJson } from '../core/json.ts';
import type { EmailPolicy } from '../privacy/index.ts';

/** What every answer has besides the columns of its row. */
interface Common {
  /** The process that noted it. */
  readonly writer: string;
  readonly run: string;
  readonly emails: EmailPolicy['mode'];
  /** Equal for equal email policies, also of their salts. */
  readonly policy: string;
}

export interface DayBody extends Common {
  readonly kind: 'day';
  readonly verdict: 'believed' | 'doubted';
  /** The SHA-256 of its rows; null if it has none. */
  readonly object: string | null;
  readonly rows: number;
  readonly content: string;
  readonly own: boolean;
  readonly requests: number;
  readonly today: string;
  readonly settleDays: number;
}

export interface PageBody extends Common {
  readonly kind: 'page';
  readonly cursor: string;
  /** The key of each report, and the SHA-256 of its text. */
  readonly reports: readonly (readonly [key: string, sha256: string])[];
}

export interface WalkBody extends Common {
  readonly kind: 'walk';
  readonly cursor: string;
  /** The keys of the reports that the service has; null if the others stay as well. */
  readonly seen: readonly string[] | null;
}

export type AnswerBody = DayBody | PageBody | WalkBody;
/** What remains of an answer that was damaged and removed. */
export type StoredBody = AnswerBody | { readonly kind: 'lost' };

/** Where an answer is, and what it is about. */
export interface AnswerPlace {
  /** The file of its archive. */
  readonly archive: string;
  /** Grows in the order in which answers are noted. */
  readonly id: number;
  readonly org: string;
  /** `users 2026-01-20`, or `readiness`. */
  readonly unit: string;
  /** When it was pulled, as an ISO instant. */
  readonly at: string;
}

/** What became of an answer. `undecided`: a kill came between, and no run has looked since. */
export type Outcome = 'committed' | 'dropped' | 'undecided';

type Known = AnswerPlace & { readonly outcome: Outcome };
export type DayAnswer = Known & DayBody;
export type PageAnswer = Known & PageBody;
export type WalkAnswer = Known & WalkBody;
/** An archived answer. */
export type Answer = DayAnswer | PageAnswer | WalkAnswer;

/** The unit of steps of readiness walks. */
export const READINESS = 'readiness';

/** The stream of a unit, and its day; readiness has none. */
export function partsOf(unit: string): { readonly stream: string; readonly day: string | null } {
  const [stream = '', day = null] = unit.split(' ');
  return { stream, day };
}

/** The text of a body without what belongs to the place of its answer, and the checksum of the row. */
export function sealed(
  { id, org, unit, at }: Omit<AnswerPlace, 'archive'>,
  body: StoredBody & Partial<Known>,
): [text: string, checksum: number] {
  const { archive: _archive, id: _id, org: _org, unit: _unit, at: _at, outcome: _outcome, ...own } = body;
  const text = JSON.stringify(own);
  return [text, checksumOf(id, org, unit, at, text)];
}

/** An answer as its row has it, without its outcome. */
export type ParsedRow = Omit<AnswerPlace, 'archive'> & { readonly body: StoredBody };

/** What a row says, in the order of its columns; undefined if a byte of it is not what was written. */
export function parseAnswerRow([id, org, unit, at, text, checksum]: readonly unknown[]):
  | ParsedRow
  | undefined {
  const place = { id: Number(id), org: String(org), unit: String(unit), at: String(at) };
  if (checksum !== checksumOf(place.id, place.org, place.unit, place.at, String(text))) return undefined;
  const body = parseJson(String(text));
  return isBody(body) ? { ...place, body } : undefined;
}

/** The checksum has shown that the text is what this program wrote. */
function isBody(value: unknown): value is StoredBody {
  return isObject(value) && ['day', 'page', 'walk', 'lost'].some((kind) => kind === value['kind']);
}

/** What became of an answer; undefined if a byte of the row is not what was written. */
export function parseOutcome(id: number, outcome: unknown, checksum: unknown): Outcome | undefined {
  const isKnown = outcome === 'committed' || outcome === 'dropped' || outcome === 'undecided';
  return isKnown && checksum === checksumOf(id, outcome) ? outcome : undefined;
}

/** The checksum of the values of a row. */
export function checksumOf(...values: readonly (string | number)[]): number {
  return crc32(JSON.stringify(values));
}

/** The digests of the objects that an answer needs. */
export function objectsOf(answer: Answer | AnswerBody): readonly string[] {
  if (answer.kind === 'day') return answer.object === null ? [] : [answer.object];
  return answer.kind === 'page' ? answer.reports.map(([, sha256]) => sha256) : [];
}

/** An answer that cannot be read. */
export interface LostAnswer extends Pick<AnswerPlace, 'org' | 'at'> {
  /** Null if nobody knows what it was about. */
  readonly unit: string | null;
  /** It was damaged, and what was left of it was removed. */
  readonly isRemoved: boolean;
}

/** What one or several archives know. */
export interface Contents {
  /** In the order in which they were noted. */
  readonly answers: readonly Answer[];
  readonly lost: readonly LostAnswer[];
  /** The instant before which answers were thinned out; null if none were. */
  readonly prunedBefore: string | null;
}

/** A step of a readiness walk. */
export type WalkStep = PageAnswer | WalkAnswer;

/** An object in one of the archives. */
export interface ObjectRef {
  readonly archive: string;
  readonly sha256: string;
}

/** Joins what several archives know. */
export function joinContents(all: readonly Contents[]): Contents {
  const pruned = all.flatMap(({ prunedBefore }) => prunedBefore ?? []).sort();
  return {
    answers: all.flatMap(({ answers }) => answers),
    lost: all.flatMap(({ lost }) => lost),
    prunedBefore: pruned.at(-1) ?? null,
  };
}

/** Names a unit across organizations. */
export function unitKeyOf({ org, unit }: Pick<AnswerPlace, 'org' | 'unit'>): string {
  return JSON.stringify([org, unit]);
}

/** The answers about days, by unit, in the order of their pulls. */
export function dayAnswers(answers: readonly Answer[]): Map<string, DayAnswer[]> {
  return grouped(
    inOrder(answers).filter((answer) => answer.kind === 'day'),
    unitKeyOf,
  );
}

/** The steps of readiness walks, by organization, in the order of their pulls. */
export function walkSteps(answers: readonly Answer[]): Map<string, WalkStep[]> {
  return grouped(
    inOrder(answers).filter((answer) => answer.kind !== 'day'),
    ({ org }) => org,
  );
}

/** The reports after some steps of walks: their objects by their keys, in the order in which they were first seen. */
export function reportsAfter(steps: readonly WalkStep[]): Map<string, ObjectRef> {
  const reports = new Map<string, ObjectRef>();
  for (const step of steps) {
    if (step.kind === 'page')
      for (const [key, sha256] of step.reports) reports.set(key, { archive: step.archive, sha256 });
    else if (step.seen !== null) {
      const seen = new Set(step.seen);
      for (const key of reports.keys()) if (!seen.has(key)) reports.delete(key);
    }
  }
  return reports;
}

/** The digests of the objects that answers need. */
export function objectsIn(answers: readonly Answer[]): Set<string> {
  return new Set(answers.flatMap(objectsOf));
}

/** The units that answers are about, for a message: at most a few of them. */
export function namesOf(answers: readonly { readonly unit: string | null }[]): string {
  const names = [...new Set(answers.map(({ unit }) => unit ?? UNKNOWN_UNIT))];
  const shown = names.slice(0, NAMES_MAX).join(', ');
  return names.length > NAMES_MAX ? `${shown} and ${names.length - NAMES_MAX} more` : shown;
}

/** Stands for a unit that nobody knows. */
export const UNKNOWN_UNIT = 'an unknown unit';
/** The names of units that a message lists at most. */
const NAMES_MAX = 5;

/** Sorts answers by their pulls; those of one instant stay in the order in which they were noted. */
function inOrder(answers: readonly Answer[]): Answer[] {
  return answers.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

function grouped<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}
