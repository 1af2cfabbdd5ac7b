import { isDay, type UtcDay } from '../core/day.ts';
import { canonicalJson, isObject, parseJson } from '../core/json.ts';
import {
  isUnstable,
  type Looks,
  parseLooks,
  pastLooks,
  pastWith,
  renamedLooks,
  settlesOn,
  withLook,
} from './looks.ts';

/** A difference between a settled unit and the service's sums by model. */
export interface Noted {
  /** When it was first seen, as an ISO instant. */
  readonly at: string;
  /** Digest of the service's answer. */
  readonly sha256: string;
  /** What was compared: the rows of the unit, or the service's sums by model. Earlier versions noted rows, too. */
  readonly by: 'rows' | 'models';
}

/** Facts about a unit that later runs need, stored as JSON in the ledger's column `watch`. */
export interface Notes extends Looks {
  /** A difference of sums. Until it is seen again, the rows of its day are compared. */
  readonly noted?: Noted;
  /** A difference that the day's own answer refuted. It is not followed again soon. */
  readonly reopenedFor?: string;
  /** When it was refuted, as an ISO instant. */
  readonly reopenedAt?: string;
  /** The unit was reopened and has not been pulled since. */
  readonly due?: true;
  /** Digest of the content that the day's own answer gave. A range with the same content needs no second request. */
  readonly own?: string;
  /** The sums of the content that identities compare, see `identities.ts`; unknown while records are in quarantine. */
  readonly figures?: readonly (number | null)[];
  /** The identities that the unit violates together with another one of its day. */
  readonly odd?: readonly string[];
  /** The identities that the content of the looks would begin to violate, while it waits for that. */
  readonly breaks?: readonly string[];
  /** Digest of the sums by model, if they cannot be compared with the rows. */
  readonly models?: string;
  /** The day on which the newest of the records in quarantine came, if all of them may settle with the unit. */
  readonly heldSince?: UtcDay;
  /** The day on which the unit settles at the earliest, while it is in its first looks, see `settlesOn`. */
  readonly settlesOn?: UtcDay;
}

const parsed = new Map<string, Notes>();
/** A run reads the notes of each unit several times. */
const PARSED_MAX = 5_000;

/** The notes in the ledger's column; none if someone edited it into something else. */
export function parseNotes(text: string | null): Notes {
  if (text === null) return {};
  const known = parsed.get(text);
  if (known !== undefined) return known;
  if (parsed.size >= PARSED_MAX) parsed.clear();
  const notes = readNotes(text);
  parsed.set(text, notes);
  return notes;
}

function readNotes(text: string): Notes {
  const value = parseJson(text);
  if (!isObject(value)) return {};
  const { noted, reopenedFor, reopenedAt, due, own, figures, odd, breaks, models, heldSince } = value;
  const { looks, lookedAt, past, settlesOn: settles } = value;
  return {
    ...(isNoted(noted) ? { noted } : {}),
    ...(typeof reopenedFor === 'string' ? { reopenedFor } : {}),
    ...(typeof reopenedAt === 'string' ? { reopenedAt } : {}),
    ...(due === true ? { due } : {}),
    ...(typeof own === 'string' ? { own } : {}),
    ...(isFigures(figures) ? { figures } : {}),
    ...(isNames(odd) ? { odd } : {}),
    ...(isNames(breaks) ? { breaks } : {}),
    ...(typeof models === 'string' ? { models } : {}),
    ...(isDay(heldSince) ? { heldSince } : {}),
    ...parseLooks({ looks, lookedAt, past }),
    ...(isDay(settles) ? { settlesOn: settles } : {}),
  };
}

/** The text of notes, equal for equal notes; null if there is nothing to remember. */
export function notesText(notes: { readonly [Name in keyof Notes]: Notes[Name] | undefined }): string | null {
  const held = Object.entries(notes).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  );
  return held.length === 0 ? null : canonicalJson(Object.fromEntries(held));
}

/** A commit, as the notes see it. */
export interface NotedCommit {
  readonly day: UtcDay;
  readonly contentSha256: string;
  readonly isOwn: boolean;
  /** Digest of other content that this answer had, see `isOtherThanLooked`: it was a look. */
  readonly otherSha256?: string | undefined;
  readonly pulledAt: Date;
  readonly heldSince?: UtcDay | undefined;
  readonly figures?: readonly (number | null)[] | undefined;
}

/**
 * The notes of a unit after a commit; what was noted about other content is dropped.
 * @param before what was stored, whether that changes, and whether the unit stays settled.
 */
export function notesAfterCommit(
  text: string | null,
  { day, contentSha256, isOwn, otherSha256, pulledAt, heldSince, figures }: NotedCommit,
  {
    stored,
    isChanged,
    staysSettled,
  }: { readonly stored: string | null; readonly isChanged: boolean; readonly staysSettled: boolean },
): string | null {
  const known = parseNotes(text);
  if (otherSha256 !== undefined) {
    const { own: _own, due: _due, reopenedFor: _for, reopenedAt: _at, ...others } = known;
    return notesText({ ...others, ...looksNotes(day, withLook(known, otherSha256, pulledAt)) });
  }
  const { odd, models, reopenedFor, reopenedAt, own } = known;
  // Nothing differs from a settled unit, or the day's own answer has refuted what did.
  const isRefuted = known.due === true || known.looks === undefined;
  const looks = staysSettled && isRefuted ? {} : withLook(known, contentSha256, pulledAt);
  return notesText({
    odd,
    past: isChanged ? pastWith(known, stored, pulledAt) : known.past,
    figures: figures ?? (isChanged ? undefined : known.figures),
    models,
    ...(isChanged ? {} : { reopenedFor, reopenedAt }),
    own: isOwn || own === contentSha256 ? contentSha256 : undefined,
    heldSince,
    ...looksNotes(day, looks),
  });
}

/**
 * The notes of a unit after its answer was doubted: it was pulled, so no difference is open. The answer is a look, and it
 * refutes none.
 */
export function notesAfterDoubt(text: string | null, seen: Omit<NotedCommit, 'isOwn'>): string | null {
  const known = parseNotes(text);
  const looks = withLook(known, seen.contentSha256, seen.pulledAt);
  const { noted: _noted, due: _due, breaks: _breaks, reopenedFor: _for, reopenedAt: _at, ...others } = known;
  return notesText({ ...others, ...looksNotes(seen.day, looks) });
}

/** The notes of a unit that has settled: its looks have done their work. */
export function notesAfterSettling(text: string | null, stored: string | null): string | null {
  const known = parseNotes(text);
  const past = pastLooks(known, stored);
  return notesText({ ...known, past, looks: undefined, lookedAt: undefined, settlesOn: undefined });
}

function looksNotes(day: UtcDay, { looks, lookedAt }: Looks) {
  return { looks, lookedAt, settlesOn: settlesOn(day, { ...(looks && { looks }) }) };
}

/** The notes of a unit that is opened again. If its own answer refutes the looks, these will not open it again soon. */
export function notesAfterReopening(text: string | null): string | null {
  const notes = parseNotes(text);
  const seen = notes.looks?.at(-1)?.[1];
  const refuted = seen === undefined ? {} : { reopenedFor: seen, reopenedAt: notes.lookedAt };
  return notesText({ ...notes, ...refuted, due: true });
}

/** True for a unit whose answers go back and forth. What is stored of a settled one stays. */
export function isUnstableUnit({
  settledAt,
  contentSha256,
  watch,
}: {
  readonly settledAt: string | null;
  readonly contentSha256: string | null;
  readonly watch: string | null;
}): boolean {
  return isUnstable(parseNotes(watch), settledAt === null ? null : contentSha256);
}

function isFigures(value: unknown): value is (number | null)[] {
  return Array.isArray(value) && value.every((each) => each === null || typeof each === 'number');
}

function isNames(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function isNoted(value: unknown): value is Noted {
  return (
    isObject(value) &&
    typeof value['at'] === 'string' &&
    typeof value['sha256'] === 'string' &&
    (value['by'] === 'rows' || value['by'] === 'models')
  );
}

/**
 * The notes of a unit whose rows were rewritten here, by an upgrade or a sweep: its content has another digest, and the looks
 * that found it still did.
 */
export function renamedNotes(
  text: string | null,
  { from, to }: { readonly from: string; readonly to: string },
): string | null {
  const notes = parseNotes(text);
  const own = notes.own === from ? to : undefined;
  return notesText({ ...notes, ...renamedLooks(notes, { from, to }), own });
}

/**
 * The text of a doubt after the rows of its unit were rewritten here, such as by an erasure. A pseudonym sorts elsewhere, so the places
 * of the missing rows no longer hold; the waiting time starts again with the next answer.
 */
function rewrittenDoubt(text: string | null): string | null {
  const value = parseJson(text ?? 'null');
  if (!isObject(value) || typeof value['missing'] !== 'string') return text;
  return canonicalJson({ ...value, missing: '' });
}

/** What the ledger remembers about the rows of a unit. */
interface Rewritten {
  readonly watch: string | null;
  readonly doubt: string | null;
}

/**
 * What changes in a unit whose rows were rewritten here, by a sweep. The digest of its answers is forgotten, because
 * the service goes on sending what was rewritten.
 */
export function rewrittenUnit(
  { contentSha256, watch, doubt }: Rewritten & { readonly contentSha256: string | null },
  to: string,
): Rewritten & { readonly contentSha256: string; readonly answersSha256: null } {
  const notes = contentSha256 === null ? watch : renamedNotes(watch, { from: contentSha256, to });
  return { contentSha256: to, answersSha256: null, watch: notes, doubt: rewrittenDoubt(doubt) };
}
