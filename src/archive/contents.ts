import { placeKey } from './data-files.ts';
import {
  type AnswerLine,
  type DayLine,
  type Line,
  type ObjectRef,
  objectsOf,
  type PageLine,
  type WalkLine,
} from './lines.ts';
import type { IndexFile } from './read-index.ts';

/** What became of an answer. `undecided`: a kill came between, and no run has looked since. */
export type Outcome = 'committed' | 'dropped' | 'undecided';

/** What an archive knows: its answers in the order in which they were noted, and what became of each. */
export interface Contents {
  readonly answers: readonly AnswerLine[];
  outcomeOf(line: AnswerLine): Outcome;
  /** The instant before which answers were thinned out; null if none were. */
  readonly prunedBefore: string | null;
}

/** Joins the files of an index. */
export function contentsOf(files: readonly Pick<IndexFile, 'lines'>[]): Contents {
  const outcomes = new Map<string, Outcome>();
  // A prune that was killed leaves the old files beside the new one, so a name may occur twice: the later line counts.
  const answers = new Map<string, AnswerLine>();
  let prunedBefore: string | null = null;
  for (const line of files.flatMap(({ lines }) => lines)) {
    if (line.kind === 'outcome') for (const name of line.names) outcomes.set(name, line.outcome);
    else if (line.kind === 'pruned') prunedBefore = later(prunedBefore, line.before);
    else if (line.kind !== 'begin') answers.set(line.name, line);
  }
  return {
    answers: [...answers.values()],
    outcomeOf: ({ name }) => outcomes.get(name) ?? 'undecided',
    prunedBefore,
  };
}

/** Names a day's unit across organizations. */
export function unitKeyOf({ org, stream, day }: Pick<DayLine, 'org' | 'stream' | 'day'>): string {
  return JSON.stringify([org, stream, day]);
}

/** The answers about days, by unit, in the order of their pulls. */
export function dayAnswers(lines: readonly Line[]): Map<string, DayLine[]> {
  const units = new Map<string, DayLine[]>();
  for (const line of inOrder(lines)) {
    if (line.kind !== 'day') continue;
    const key = unitKeyOf(line);
    units.set(key, [...(units.get(key) ?? []), line]);
  }
  return units;
}

/** The steps of readiness walks, by organization, in the order of their pulls. */
export function walkSteps(lines: readonly Line[]): Map<string, (PageLine | WalkLine)[]> {
  const organizations = new Map<string, (PageLine | WalkLine)[]>();
  for (const line of inOrder(lines)) {
    if (line.kind !== 'page' && line.kind !== 'walk') continue;
    organizations.set(line.org, [...(organizations.get(line.org) ?? []), line]);
  }
  return organizations;
}

/** The reports after some steps of walks: their objects by their keys, in the order in which they were first seen. */
export function reportsAfter(steps: readonly (PageLine | WalkLine)[]): Map<string, ObjectRef> {
  const reports = new Map<string, ObjectRef>();
  for (const step of steps) {
    if (step.kind === 'page') for (const [key, object] of step.reports) reports.set(key, object);
    else if (step.seen !== null) {
      const seen = new Set(step.seen);
      for (const key of reports.keys()) if (!seen.has(key)) reports.delete(key);
    }
  }
  return reports;
}

/** The objects of answers. One that several answers have comes once. */
export function objectsIn(answers: readonly AnswerLine[]): ObjectRef[] {
  return [...new Map(answers.flatMap(objectsOf).map((ref) => [placeKey(ref), ref])).values()];
}

/** Sorts answers by their pulls; those of one instant stay in the order in which they were noted. */
function inOrder(lines: readonly Line[]): AnswerLine[] {
  const answers = lines.filter((line) => line.kind === 'day' || line.kind === 'page' || line.kind === 'walk');
  return answers.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at)));
}

function later(a: string | null, b: string): string {
  return a === null || b > a ? b : a;
}
