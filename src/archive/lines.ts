import { crc32 } from 'node:zlib';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { isObject, parseJson } from '../core/json.ts';

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
/** The name of an index file with the extension of a codec. It has no path. */
const DATA_FILE = '^\\d{6,}-\\d{8}T\\d{9}Z-[0-9a-f]{8}\\.(br|zst)$';

/** A compressed text: where it is, and its SHA-256 before it was compressed. */
const ObjectRef = Type.Object({
  sha256: Sha256,
  file: Type.String({ pattern: DATA_FILE }),
  /** Both in bytes. */
  offset: Type.Integer({ minimum: 0 }),
  length: Type.Integer({ minimum: 1 }),
});

/** What every line about an answer has. */
const ANSWER = {
  /** Unique in the archive: the run and a number. */
  name: Type.String({ minLength: 1 }),
  org: Type.String(),
  run: Type.String(),
  /** When it was pulled, as an ISO instant. */
  at: Type.String({ minLength: 20 }),
  emails: Type.Union([Type.Literal('keep'), Type.Literal('hash'), Type.Literal('drop')]),
  /** Equal for equal email policies, also of their salts. */
  policy: Type.String(),
};

/** A flipped byte in the name of a member leaves a line that is not whole. */
const EXACT = { additionalProperties: false };

const DayLine = Type.Object(
  {
    kind: Type.Literal('day'),
    ...ANSWER,
    stream: Type.String(),
    day: Type.String(),
    verdict: Type.Union([Type.Literal('believed'), Type.Literal('doubted')]),
    object: Type.Union([ObjectRef, Type.Null()]),
    rows: Type.Integer({ minimum: 0 }),
    content: Sha256,
    own: Type.Boolean(),
    requests: Type.Integer({ minimum: 0 }),
    today: Type.String(),
    settleDays: Type.Integer({ minimum: 0 }),
  },
  EXACT,
);

const PageLine = Type.Object(
  {
    kind: Type.Literal('page'),
    ...ANSWER,
    cursor: Type.String(),
    /** The key of each report, and its object. */
    reports: Type.Array(Type.Tuple([Type.String(), ObjectRef])),
  },
  EXACT,
);

const WalkLine = Type.Object(
  {
    kind: Type.Literal('walk'),
    ...ANSWER,
    cursor: Type.String(),
    /** The keys of the reports that the service has; null if the others stay as well. */
    seen: Type.Union([Type.Array(Type.String()), Type.Null()]),
  },
  EXACT,
);

const OutcomeLine = Type.Object(
  {
    kind: Type.Literal('outcome'),
    names: Type.Array(Type.String()),
    outcome: Type.Union([Type.Literal('committed'), Type.Literal('dropped')]),
  },
  EXACT,
);

const PrunedLine = Type.Object(
  {
    kind: Type.Literal('pruned'),
    /** Answers before this instant were thinned out: the archive does not know what was before it. */
    before: Type.String({ minLength: 20 }),
  },
  EXACT,
);

const BeginLine = Type.Object(
  {
    kind: Type.Literal('begin'),
    /** The names of earlier files of the index that no other file names yet, so that a missing one is found. */
    after: Type.Array(Type.String()),
  },
  EXACT,
);

const Line = Type.Union([BeginLine, DayLine, PageLine, WalkLine, OutcomeLine, PrunedLine]);

/** An object of the archive. */
export type ObjectRef = Readonly<Static<typeof ObjectRef>>;
/** The range of bytes of an object in its file. */
export type ObjectPlace = Pick<ObjectRef, 'file' | 'offset' | 'length'>;
export type DayLine = Readonly<Static<typeof DayLine>>;
export type PageLine = Readonly<Static<typeof PageLine>>;
export type WalkLine = Readonly<Static<typeof WalkLine>>;
/** A line about an answer. */
export type AnswerLine = DayLine | PageLine | WalkLine;
/** A line of the index. */
export type Line = Readonly<Static<typeof Line>>;

const check = Compile(Line);

/** A line, and its number in its file, from 1. */
export interface NumberedLine {
  readonly line: Line;
  readonly number: number;
}

const CHECKED = /^(?<body>.*),"check":"(?<sum>[0-9a-f]{8})"\}$/s;

/** Parses a line of the index; undefined if it is damaged. @param text without the line break */
export function parseLine(text: string): NumberedLine | undefined {
  const { body, sum } = CHECKED.exec(text)?.groups ?? {};
  const value = body !== undefined && sum === checksum(body) ? parseJson(`${body}}`) : undefined;
  if (!isObject(value)) return undefined;
  const { no, ...line } = value;
  return Number.isSafeInteger(no) && check.Check(line) ? { line, number: Number(no) } : undefined;
}

/** Parses a line of a file that has no checksums, as earlier versions wrote it; undefined if it is damaged. */
export function parseUncheckedLine(text: string): Line | undefined {
  const value = parseJson(text);
  return check.Check(value) ? value : undefined;
}

/** True for a text with a checksum, whether it is right or not. */
export function hasChecksum(text: string): boolean {
  return text.includes('"check":"');
}

/** How often each line is written. */
export const COPIES = 2;

/** The text of a line with its number in its file, its checksum and its line break. */
export function lineText(line: Line, number: number): string {
  const body = JSON.stringify({ ...line, no: number }).slice(0, -1);
  return `${body},"check":"${checksum(body)}"}\n`;
}

function checksum(body: string): string {
  return crc32(body).toString(16).padStart(8, '0');
}

/** True for the names of data files. */
export function isDataFile(name: string): boolean {
  return new RegExp(DATA_FILE).test(name);
}

/** The objects that a line needs. */
export function objectsOf(line: Line): readonly ObjectRef[] {
  if (line.kind === 'day') return line.object === null ? [] : [line.object];
  return line.kind === 'page' ? line.reports.map(([, object]) => object) : [];
}

/** The line with other places for its objects; the same line if it has none. */
export function withObjectsAt<Known extends Line>(
  line: Known,
  placeOf: (ref: ObjectRef) => ObjectRef,
): Known {
  if (line.kind === 'day') return line.object === null ? line : { ...line, object: placeOf(line.object) };
  if (line.kind !== 'page') return line;
  return { ...line, reports: line.reports.map(([key, ref]): [string, ObjectRef] => [key, placeOf(ref)]) };
}
