import { crc32 } from 'node:zlib';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseJson } from '../core/json.ts';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** What every answer has besides the columns of its row. */
const COMMON = {
  /** The process that noted it. */
  writer: Type.String({ minLength: 1 }),
  run: Type.String(),
  emails: Type.Union([Type.Literal('keep'), Type.Literal('hash'), Type.Literal('drop')]),
  /** Equal for equal email policies, also of their salts. */
  policy: Type.String(),
};

/** A flipped byte in the name of a member leaves a body that is not whole. */
const EXACT = { additionalProperties: false };

const DayBody = Type.Object(
  {
    kind: Type.Literal('day'),
    ...COMMON,
    verdict: Type.Union([Type.Literal('believed'), Type.Literal('doubted')]),
    /** The SHA-256 of its rows; null if it has none. */
    object: Type.Union([Sha256, Type.Null()]),
    rows: Type.Integer({ minimum: 0 }),
    content: Sha256,
    own: Type.Boolean(),
    requests: Type.Integer({ minimum: 0 }),
    today: Type.String(),
    settleDays: Type.Integer({ minimum: 0 }),
  },
  EXACT,
);

const PageBody = Type.Object(
  {
    kind: Type.Literal('page'),
    ...COMMON,
    cursor: Type.String(),
    /** The key of each report, and the SHA-256 of its text. */
    reports: Type.Array(Type.Tuple([Type.String(), Sha256])),
  },
  EXACT,
);

const WalkBody = Type.Object(
  {
    kind: Type.Literal('walk'),
    ...COMMON,
    cursor: Type.String(),
    /** The keys of the reports that the service has; null if the others stay as well. */
    seen: Type.Union([Type.Array(Type.String()), Type.Null()]),
  },
  EXACT,
);

/** What remains of an answer that was damaged and removed. */
const LostBody = Type.Object({ kind: Type.Literal('lost') }, EXACT);

const Body = Type.Union([DayBody, PageBody, WalkBody, LostBody]);
const check = Compile(Body);

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

export type DayBody = Readonly<Static<typeof DayBody>>;
export type PageBody = Readonly<Static<typeof PageBody>>;
export type WalkBody = Readonly<Static<typeof WalkBody>>;
export type AnswerBody = DayBody | PageBody | WalkBody;
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

/** A row of the table of answers, in the order of its columns. */
export type AnswerRow = readonly [
  id: number,
  org: string,
  unit: string,
  at: string,
  body: string,
  checksum: number,
];

/** The row of an answer. */
export function answerRow(
  { id, org, unit, at }: Omit<AnswerPlace, 'archive'>,
  body: AnswerBody | Static<typeof LostBody>,
): AnswerRow {
  const text = JSON.stringify(body);
  return [id, org, unit, at, text, checksumOf(id, org, unit, at, text)];
}

/** The body of an answer without what belongs to its place. */
export function bodyOf(answer: Answer): AnswerBody {
  const { archive: _archive, id: _id, org: _org, unit: _unit, at: _at, outcome: _outcome, ...body } = answer;
  return body;
}

/** An answer as its row has it, without its outcome. */
export type ParsedRow = Omit<AnswerPlace, 'archive'> & { readonly body: Static<typeof Body> };

/** What a row says, in the order of its columns; undefined if a byte of it is not what was written. */
export function parseAnswerRow(row: readonly unknown[]): ParsedRow | undefined {
  if (!isAnswerRow(row)) return undefined;
  const [id, org, unit, at, text, checksum] = row;
  if (checksum !== checksumOf(id, org, unit, at, text)) return undefined;
  const body = parseJson(text);
  return check.Check(body) ? { id, org, unit, at, body } : undefined;
}

function isAnswerRow(row: readonly unknown[]): row is AnswerRow {
  const [id, org, unit, at, body, checksum] = row;
  return (
    [id, checksum].every((value) => typeof value === 'number') &&
    [org, unit, at, body].every((value) => typeof value === 'string')
  );
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
