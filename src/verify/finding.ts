import type { Stream } from '../core/stream.ts';

/**
 * How bad a finding is: `broken` is content that is not what the ledger says was stored, `hole` days that were never
 * pulled between others that were, `difference` content that the service answers otherwise now, `unanswered` a unit
 * that could not be pulled again, `oddity` figures of the service that do not go together as one would expect.
 */
export const SEVERITIES = ['broken', 'hole', 'difference', 'unanswered', 'oddity'] as const;

/** One of {@link SEVERITIES}. */
export type Severity = (typeof SEVERITIES)[number];

/** Something that a verification found, with its numbers. */
export interface Finding {
  readonly severity: Severity;
  readonly orgId: string;
  readonly stream: Stream;
  /** '' for readiness. */
  readonly day: string;
  /** What was compared. */
  readonly what: string;
  readonly expected: string | number | null;
  readonly found: string | number | null;
}

/** Findings of each severity that are listed; all are counted. */
const LISTED_MAX = 500;

/** Collects findings in bounded memory: many of one severity do not hide those of another. */
export class FindingList {
  readonly listed: Finding[] = [];
  readonly counts: Record<Severity, number> = {
    broken: 0,
    hole: 0,
    difference: 0,
    unanswered: 0,
    oddity: 0,
  };

  add(finding: Finding): void {
    this.counts[finding.severity] += 1;
    if (this.counts[finding.severity] <= LISTED_MAX) this.listed.push(finding);
  }
}
