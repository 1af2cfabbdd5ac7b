import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { day, integer, listOf, number, object, oneOf, type Parsed, text } from '../input/parse.ts';

/** The kinds of revisions. */
export const REVISION_KINDS = [
  'restate',
  'vanish-users',
  'add-users',
  'vanish-models',
  'vanish-languages',
  'empty',
  'add-reports',
  'delete-report',
  'change-report',
  'revert',
] as const;

/** One of {@link REVISION_KINDS}. */
export type RevisionKind = (typeof REVISION_KINDS)[number];

/** Reads a request to revise the data. Throws `UsageError` that names the place and what is accepted there. */
export const parseRevision = object(
  { kind: oneOf(...REVISION_KINDS) },
  {
    /** The past day to change. Every kind that changes a day needs it. With it, `revert` undoes only this day. */
    day,
    /** The endpoints that show the change. Default: all of them, so that they stay coherent. */
    streams: listOf(oneOf(...DAILY_STREAMS)),
    /** How many users, models, languages or reports. Default 1. */
    count: integer(0, 1_000_000),
    /** The share of users whose numbers `restate` changes. Default 1. */
    share: number(0, 1),
    /** The ids of the users, instead of `count`. */
    users: listOf(text),
    /** The ids of the models, instead of `count`. */
    models: listOf(text),
    /** The names of the languages, instead of `count`. */
    languages: listOf(text),
    /** The report that `delete-report` and `change-report` change. Default: the newest. */
    reportId: text,
  },
);

/** A change to data that the emulator has already served. */
export type RevisionRequest = Parsed<typeof parseRevision>;

/** What a revision changed. */
export interface RevisionOutcome {
  /** Counts revisions from 1. */
  readonly number: number;
  readonly kind: RevisionKind;
  readonly day: UtcDay | null;
  /** Ids or names of the users, models, languages or reports that changed. */
  readonly names: readonly string[];
}
