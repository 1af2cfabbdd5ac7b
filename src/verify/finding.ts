import type { Stream } from '../core/stream.ts';

/**
 * How bad a finding is: `broken` is a promise of this program that does not hold, `difference` content that the service
 * answers otherwise now, `oddity` figures of the service that do not go together as one would expect.
 */
export type Severity = 'broken' | 'difference' | 'oddity';

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

/** Findings that are listed; all are counted. */
const LISTED_MAX = 1_000;

/** Collects findings in bounded memory. */
export class FindingList {
  readonly listed: Finding[] = [];
  readonly counts: Record<Severity, number> = { broken: 0, difference: 0, oddity: 0 };

  add(finding: Finding): void {
    this.counts[finding.severity] += 1;
    if (this.listed.length < LISTED_MAX) this.listed.push(finding);
  }
}
