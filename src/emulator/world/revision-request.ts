import type { UtcDay } from '../../core/day.ts';
import { DAILY_STREAMS } from '../../core/stream.ts';
import { day, integer, listOf, number, object, oneOf, type Parsed, text } from '../input/parse.ts';

/** What can be revised. */
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
    /** The past day that changes. Every kind that changes a day needs it. `revert` takes back this day only. */
    day,
    /** The endpoints that show the change. Default: all of them, so that they stay coherent. */
    streams: listOf(oneOf(...DAILY_STREAMS)),
    /** How many users, models, languages or reports. Default 1. */
    count: integer(0, 1_000_000),
    /** The share of users whose numbers `restate` changes. Default 1. */
    share: number(0, 1),
    /** Which users by id, instead of `count`. */
    users: listOf(text),
    /** Which models by id, instead of `count`. */
    models: listOf(text),
    /** Which languages by name, instead of `count`. */
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
