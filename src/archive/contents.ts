import {
  type Answer,
  type AnswerPlace,
  type DayAnswer,
  objectsOf,
  type PageAnswer,
  type WalkAnswer,
} from './answers.ts';

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
